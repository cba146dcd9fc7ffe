import Plants
import Tactus
import TestSupport
import Testing
import WireSupport

@Suite("Plant-Tracker messages", .ownThread) struct PlantMessageTests {
  static let request = "ID:0;sender:6F2A;receiver:Host-RPI3B+;payload:Basil--[\"0x36\"];operation:REQ_addNewPlant"

  func error(of text: String) -> PlantMessageError? { error(of: Array(text.utf8)) }

  func error(of bytes: [UInt8]) -> PlantMessageError? {
    do throws(PlantMessageError) {
      _ = try PlantMessage.parse(bytes)
      return nil
    } catch {
      return error
    }
  }

  @Test("parse: the app's request, its payload without escapes; encoding gives the same bytes")
  func parses() throws {
    let message = try PlantMessage.parse(Array(Self.request.utf8))
    #expect(
      message
        == PlantMessage(
          id: "0", sender: "6F2A", receiver: "Host-RPI3B+", payload: "Basil:[\"0x36\"]", operation: "REQ_addNewPlant"))
    #expect(message.encoded == Self.request)
  }

  @Test("parse: keys in any order, spaces and an empty value are the sender's own affair")
  func liberal() throws {
    let message = try PlantMessage.parse(Array("operation:REQ_numPlants;payload:;receiver:a b;sender: s;ID:".utf8))
    #expect(message == PlantMessage(id: "", sender: " s", receiver: "a b", payload: "", operation: "REQ_numPlants"))
  }

  @Test(
    "parse: each fault has its tag and its byte",
    arguments: [
      ("", .missingValue(at: 0), "missingVals"),
      ("ID:0;sender:s;receiver:r;payload;operation:o", .missingValue(at: 25), "missingVals"),
      ("ID:0;sender:s;receiver:r;payload:p;operation:o;", .missingValue(at: 47), "missingVals"),
      ("ID:0;sender:s;receiver:r;payload:a:b;operation:o", .missingKey(at: 34), "missingKeys"),
      ("ID:0;sender:s;receiver:r;payload:a:b;operation", .missingKey(at: 34), "missingKeys"),
      ("ID:0;sender:s;receiver:r;payload;x:y:z", .missingValue(at: 25), "missingVals"),
      ("ID:0;sender:s;receiver:r;payload:p", .wrongPartCount(4), "hashLength"),
      ("ID:0;sender:s;receiver:r;payload:p;operation:o;more:m", .wrongPartCount(6), "hashLength"),
      ("ID:0;sender:s;receiver:r;payload:p;payload:q", .repeatedKey(at: 35), "hashLength"),
      ("id:0;sender:s;receiver:r;payload:p;operation:o", .unknownKey(at: 0), "missingKeys"),
      ("ID:0; sender:s;receiver:r;payload:p;operation:o", .unknownKey(at: 5), "missingKeys"),
      (":0;sender:s;receiver:r;payload:p;operation:o", .unknownKey(at: 0), "missingKeys"),
    ] as [(String, PlantMessageError, String)])
  func faults(text: String, expected: PlantMessageError, tag: String) {
    #expect(error(of: text) == expected)
    #expect(expected.tag?.rawValue == tag)
    #expect(!expected.description.isEmpty)
  }

  @Test("parse: 4096 bytes are read, 4097 are too long; bytes that are no UTF-8 are named by their offset")
  func bounds() {
    let head = "ID:0;sender:s;receiver:r;operation:o;payload:"
    let rest = String(repeating: "x", count: PlantMessage.maximumLength - head.utf8.count)
    #expect(error(of: head + rest) == nil)
    #expect(error(of: head + rest + "x") == .tooLong(count: 4097))
    #expect(PlantMessageError.tooLong(count: 4097).tag == nil)
    #expect(error(of: Array("ID:0;sender:é".utf8) + [0xC3, 0x28]) == .notUTF8(at: 14))
    #expect(error(of: [0xED, 0xA0, 0x80]) == .notUTF8(at: 0))
  }

  @Test("remains: whom to answer, from whatever well-formed parts there are")
  func remains() {
    let bytes = Array("ID:7;payload:a:b;sender:6F2A;sender:other;operation:ERR_x;receiver".utf8)
    let remains = bytes.withUnsafeBytes { PlantMessageRemains(of: $0) }
    #expect(remains.id == "7")
    #expect(remains.sender == "6F2A")
    #expect(remains.receiver == nil)
    #expect(remains.operation == "ERR_x")
  }

  @Test(
    "escapes: a colon is two hyphens, a semicolon two bars; one bar is read, too",
    arguments: [
      ("a:b", "a--b", "a:b"), ("a;b", "a||b", "a;b"), ("::", "----", "::"), ("a|b", "a|b", "a;b"),
      ("|||", "|||", ";;"), ("-", "-", "-"), ("-:", "---", ":-"), (":-", "---", ":-"), ("a--b", "a--b", "a:b"),
      ("-|", "-|", "-;"), ("{'moisture': 5}", "{'moisture'-- 5}", "{'moisture': 5}"),
    ])
  func escapes(text: String, escaped: String, back: String) {
    #expect(PlantPayload.escaped(text) == escaped)
    #expect(PlantPayload.unescaped(escaped) == back)
    #expect(PlantPayload.survives(text) == (text == back))
  }

  @Test("tags: every request by its name, the requirement's misspelling, nothing else")
  func tags() {
    for tag in PlantRequestTag.allCases {
      #expect(PlantRequestTag(operation: tag.request) == tag)
      #expect(PlantRequestTag(operation: tag.response) == nil)
    }
    #expect(PlantRequestTag(operation: "REQ_plantInfoOnStatup") == .plantInfoOnStartup)
    #expect(PlantRequestTag(operation: "REQ_numplants") == nil)
    #expect(PlantRequestTag(operation: "numPlants") == nil)
    #expect(PlantErrorTag.kickedForSpam.operation == "ERR_kickedForSpam")
  }

  @Test("20,000 random messages: encoded and parsed they are the same, unless the payload cannot be carried")
  func roundTrips() throws {
    let seed: UInt64 = 20_261_121
    var random = SplitMix64(seed: seed)
    let letters = Array("abXY09 .-|:;{}[]\"'éß🌱\u{0}\n")
    func text(_ allowed: [Character]) -> String { String((0..<random.below(24)).map { _ in random.pick(allowed) }) }
    let plain = letters.filter { $0 != ":" && $0 != ";" }
    var carried = 0
    for round in 0..<20_000 {
      let message = PlantMessage(
        id: text(plain), sender: text(plain), receiver: text(plain), payload: text(letters), operation: text(plain))
      let back = try PlantMessage.parse(Array(message.encoded.utf8))
      var expected = message
      if PlantPayload.survives(message.payload) {
        carried += 1
      } else {
        expected.payload = PlantPayload.unescaped(PlantPayload.escaped(message.payload))
      }
      #expect(back == expected, "seed \(seed), round \(round)")
    }
    #expect(carried > 5_000)
  }

  @Test("100,000 mutated messages: each is a message or an error whose byte is inside it; the remains agree")
  func fuzz() {
    let seed: UInt64 = 4_711
    var random = SplitMix64(seed: seed)
    var names: [String: Int] = [:]
    let telling = Array(":;-|\0IDsenderpayload".utf8)
    for round in 0..<100_000 {
      var bytes = random.chance(50) ? mutated(Array(Self.request.utf8), &random) : Array(Self.request.utf8)
      for _ in 0..<random.below(3) { bytes.insert(random.pick(telling), at: random.below(bytes.count + 1)) }
      let remains = bytes.withUnsafeBytes { PlantMessageRemains(of: $0) }
      do throws(PlantMessageError) {
        let message = try PlantMessage.parse(bytes)
        names["none", default: 0] += 1
        #expect(remains.sender == message.sender && remains.id == message.id, "seed \(seed), round \(round)")
        #expect(remains.operation == message.operation && remains.receiver == message.receiver)
      } catch {
        names[error.name, default: 0] += 1
        switch error {
        case .tooLong, .wrongPartCount: break
        case .notUTF8(let at), .missingKey(let at), .repeatedKey(let at), .unknownKey(let at):
          #expect(bytes.indices.contains(at), "seed \(seed), round \(round)")
        case .missingValue(let at): #expect((0...bytes.count).contains(at), "seed \(seed), round \(round)")
        }
      }
    }
    let expected: Set = [
      "none", "not-utf8", "missing-value", "missing-key", "wrong-part-count", "repeated-key", "unknown-key",
    ]
    #expect(Set(names.keys).isSuperset(of: expected.subtracting(["repeated-key"])), "\(names)")
  }
}
