import Service
import Testing
import Wire

@testable import TactusDaemon

@Suite("tactus remote")
struct SettingReportTests {
  private static func setting(_ key: String, isGiven: Bool = false, isSet: Bool = false) -> JSONValue {
    .object([
      "key": .text(key), "value": .text("40"), "isGiven": .boolean(isGiven), "isSet": .boolean(isSet),
      "standard": .text("100"), "expected": .text("an integer 0…100"), "meaning": .text("How much.\u{1B}[2J"),
    ])
  }

  @Test(
    "a key, a section or a list chooses its settings, and nothing that only begins like it",
    arguments: [
      (nil, 4), ("a.b", 1), ("a", 3), ("a.list", 1), ("a.list[0]", 1), ("ab", 1), ("a.lis", 0), ("", 0), ("c", 0),
    ] as [(String?, Int)])
  func chosen(_ key: String?, _ count: Int) {
    let all = ["a.b", "a.bc", "a.list[0].x", "ab.c"].map { Self.setting($0) }
    #expect(SettingReport.chosen(all, key).count == count)
  }

  @Test("a setting says where its value comes from, and obeys no terminal's sequence of a daemon elsewhere")
  func text() {
    func first(_ setting: JSONValue) -> Substring { SettingReport.text(setting).split(separator: "\n")[0] }
    #expect(first(Self.setting("a.b")) == "a.b: 40 (unless set)")
    #expect(first(Self.setting("a.b", isGiven: true)) == "a.b: 40")
    #expect(first(Self.setting("a.b", isGiven: true, isSet: true)) == "a.b: 40 (set until the next reload or start)")
    let text = SettingReport.text(Self.setting("a.b"))
    #expect(text.contains("  an integer 0…100; unless set: 100\n") && !text.contains("\u{1B}"))
  }

  @Test("a key that there is not: the nearest is named, if one is near")
  func nothing() {
    #expect(SettingReport.nothing("a.x", among: ["a.b"]).hasSuffix(", such as a.b, got 'a.x'"))
    #expect(SettingReport.nothing("quite.different", among: ["a.b"]).hasSuffix("runs, got 'quite.different'"))
  }

  @Test(
    "the value of a change: a text, or a number or a boolean of JSON in its own characters",
    arguments: [
      (#""40""#, "40"), ("40", "40"), ("-0.5", "-0.5"), ("1e2", "1e2"), ("true", "true"), ("false", "false"),
      (#""""#, ""), (#""DEBUG""#, "DEBUG"), ("null", nil), ("[1]", nil), ("{}", nil),
      ("\"\(String(repeating: "a", count: 1001))\"", nil), (String(repeating: "1", count: 1001), nil),
    ] as [(String, String?)])
  func changedValue(json: String, value: String?) {
    let caller = Caller(scope: .admin, tokenID: nil, address: "::1", client: 0)
    let body = #"{"key":"motors.speed_limit","value":\#(json)}"#
    let request = APIRequest(caller: caller, body: Array(body.utf8))
    do throws(APIError) {
      let change = try request.decode(SettingChange.self)
      #expect(change.value == value)
    } catch {
      #expect(value == nil && error.field == "value", "\(error)")
      #expect(error.message.contains("expected text of 0…1000 characters, a number, or true or false"), "\(error)")
    }
  }
}
