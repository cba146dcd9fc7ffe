import Testing
import Wire

@testable import Service

private struct Zone: JSONReadable, Sendable {
  let minutes: Int
  let name: String?
  init(_ body: inout JSONReader) throws(APIError) {
    minutes = try body.required("minutes", .integer(1...240))
    name = try body.optional("name", .text(1...40))
  }
}

private struct Everything: JSONReadable {
  let left: Double?
  let isOn: Bool?
  let mode: String?
  let zones: [Zone]
  init(_ body: inout JSONReader) throws(APIError) {
    left = try body.optional("left", .number(-100...100))
    isOn = try body.optional("isOn", .boolean)
    mode = try body.optional("mode", .choice(["fast", "slow"]))
    zones = try body.optional("zones", .list(of: .object(), 0...3)) ?? []
  }
}

private func decoded(_ text: String) throws -> Everything { try decoded(Array(text.utf8)) }

private func decoded(_ body: [UInt8]) throws -> Everything {
  let caller = Caller(scope: .admin, tokenID: nil, address: "::1", client: 0)
  return try APIRequest(caller: caller, body: body).decode(Everything.self)
}

private func refusal(_ text: String) -> APIError? { refusal(Array(text.utf8)) }

private func refusal(_ body: [UInt8]) -> APIError? {
  do {
    _ = try decoded(body)
    return nil
  } catch {
    return error as? APIError
  }
}

@Suite("JSON bodies")
struct JSONBodyTests {
  @Test("thousands of members that nobody knows: the first is named; what is known is found among them")
  func manyMembers() throws {
    let unknown = (0..<20_000).map { #""x\#($0)":0"# }.joined(separator: ",")
    let error = try #require(refusal(#"{"zones":[],"isOn":true,\#(unknown)}"#))
    #expect(error.code == "VALIDATION" && error.field == "x0")
    let value = try JSONParser.parse(Array(#"{\#(unknown),"left":3}"#.utf8))
    let left = try JSONReader.read(value, field: "") { (reader) throws(APIError) in
      reader.ignoreUnknown()
      return try reader.required("left", .number(0...9))
    }
    #expect(left == 3)
  }

  @Test("messages of WebSocket clients: 16 KiB at most, and what a newer client says besides is left")
  func messages() throws {
    let names = (0..<1_500).map { #""x\#($0)":0"# }.joined(separator: ",")
    #expect(try ClientMessage(text: #"{\#(names),"type":"ping"}"#).kind == .ping)
    let longer = #"{"type":"ping","x":"\#(String(repeating: "x", count: ClientMessage.longest))"}"#
    #expect { try ClientMessage(text: longer) } throws: { ($0 as? APIError)?.code == "TOO_LARGE" }
  }

  @Test("every kind is read; null is as good as nothing where a member may be missing")
  func read() throws {
    let body = try decoded(
      #" {"left":-1.5e1, "isOn":true, "mode":"slow", "zones":[{"minutes":3.0,"name":"\u00e9\ud83d\ude00\n"},{"minutes":240,"name":null}]} "#
    )
    #expect(body.left == -15)
    #expect(body.isOn == true)
    #expect(body.mode == "slow")
    #expect(body.zones.map(\.minutes) == [3, 240])
    #expect(body.zones.map(\.name) == ["é😀\n", nil])
    #expect(try decoded("{}").zones.isEmpty)
  }

  @Test(
    "what is no JSON: 400 with line and column",
    arguments: [
      ("{", 1, 2), ("{\n  \"left\": 1,\n}", 3, 1), ("{\"left\":01}", 1, 10), ("{\"left\":NaN}", 1, 9),
      ("{\"left\":1}x", 1, 11), ("{\"left\":+1}", 1, 9), ("{\"left\":1.}", 1, 11), ("{'left':1}", 1, 2),
      ("{\"left\":1 \"isOn\":true}", 1, 11), ("{\"mode\":\"a\tb\"}", 1, 11), (#"{"mode":"\x"}"#, 1, 10),
      (#"{"mode":"\ud800"}"#, 1, 10), (#"{"mode":"\udc00"}"#, 1, 10), ("[1,]", 1, 4), ("nul", 1, 1),
      ("{\"left\":1,\"left\":2}", 1, 11), ("{\"left\":-}", 1, 10), ("\u{FEFF}{}", 1, 1),
    ])
  func malformed(text: String, line: Int, column: Int) {
    let error = refusal(text)
    #expect(error?.status == .badRequest)
    #expect(error?.code == "BAD_JSON")
    #expect(error?.message.hasPrefix("line \(line), column \(column) ") == true, "\(error?.message ?? "")")
  }

  @Test("text that is no UTF-8 is refused")
  func notUTF8() {
    #expect(refusal(Array(#"{"mode":""#.utf8) + [0xC3, 0x28] + Array("\"}".utf8))?.code == "BAD_JSON")
  }

  @Test("32 levels are read, 33 refused, 100 000 do no harm")
  func depth() {
    func nested(_ depth: Int) -> String { String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
    #expect(refusal(nested(32))?.code == "VALIDATION")
    #expect(refusal(nested(33))?.code == "BAD_JSON")
    #expect(refusal(String(repeating: "[", count: 100_000))?.code == "BAD_JSON")
    #expect(refusal(String(repeating: "{\"a\":", count: 100_000))?.code == "BAD_JSON")
  }

  @Test(
    "what is JSON and wrong: 422 with the field, what was expected and what came",
    arguments: [
      ("[]", "body", "body: expected an object, got an empty list"),
      (#"{"left":"x"}"#, "left", #"left: expected a number -100…100, got "x""#),
      (#"{"left":1e999}"#, "left", "left: expected a number -100…100, got 1e999"),
      (#"{"left":100.5}"#, "left", "left: expected a number -100…100, got 100.5"),
      (#"{"isOn":1}"#, "isOn", "isOn: expected true or false, got 1"),
      (#"{"mode":"Fast"}"#, "mode", #"mode: expected one of fast, slow (fast?), got "Fast""#),
      (
        #"{"zones":[{"minutes":1},{"minutes":0}]}"#, "zones[1].minutes",
        "zones[1].minutes: expected an integer 1…240, got 0"
      ),
      (#"{"zones":[{"minutes":1.5}]}"#, "zones[0].minutes", "zones[0].minutes: expected an integer 1…240, got 1.5"),
      (
        #"{"zones":[{"minutes":99999999999999999999}]}"#, "zones[0].minutes",
        "zones[0].minutes: expected an integer 1…240, got 99999999999999999999"
      ),
      (#"{"zones":[{}]}"#, "zones[0].minutes", "zones[0].minutes: expected an integer 1…240, got nothing"),
      (#"{"zones":[{"minutes":null}]}"#, "zones[0].minutes", "zones[0].minutes: expected an integer 1…240, got null"),
      (#"{"zones":[1,2,3,4]}"#, "zones", "zones: expected a list of 0…3, each an object, got a list of 4"),
      (#"{"lefft":1}"#, "lefft", #"lefft: expected a known member (left?), got "lefft""#),
      (#"{"other":1}"#, "other", #"other: expected a known member (left, isOn, mode, zones), got "other""#),
      (
        #"{"zones":[{"minutes":1,"minuets":1}]}"#, "zones[0].minuets",
        #"zones[0].minuets: expected a known member (minutes?), got "minuets""#
      ),
    ])
  func invalid(text: String, field: String, message: String) {
    let error = refusal(text)
    #expect(error?.status == .unprocessableContent)
    #expect(error?.code == "VALIDATION")
    #expect(error?.field == field)
    #expect(error?.message == message)
  }

  @Test("a member of a hundred thousand characters is named in forty")
  func longName() {
    let error = refusal("{\"" + String(repeating: "x", count: 100_000) + "\":1}")
    #expect(error?.code == "VALIDATION")
    #expect((error?.message.count ?? 1000) < 200)
  }

  @Test("no body: 400 BODY_MISSING")
  func missing() {
    #expect(refusal("")?.code == "BODY_MISSING")
    #expect(refusal(" ")?.code == "BAD_JSON")
  }
}
