import Tactus
import TestSupport
import Testing
import Wire
import WireSupport

@Suite("JSON text") struct JSONParserTests {
  private func read(_ text: String) -> JSONValue? { try? JSONParser.parse(Array(text.utf8)) }

  @Test(
    "values",
    arguments: [
      ("null", .null), (" true ", .boolean(true)), ("false", .boolean(false)), ("-1.5e2", .number("-1.5e2")),
      ("0", .number("0")), ("\"a\\n\\u00e9\\ud83c\\udf31\"", .text("a\né🌱")), ("[]", .list([])), ("{}", .object([])),
      ("[\"0x36\", \"0x37\"]", .list([.text("0x36"), .text("0x37")])), ("1e999", .number("1e999")),
      (
        "{\"Name\": \"Basil\", \"n\": [1]}",
        .object([.init(name: "Name", value: .text("Basil")), .init(name: "n", value: .list([.number("1")]))])
      ),
    ] as [(String, JSONValue)])
  func values(text: String, value: JSONValue) { #expect(read(text) == value) }

  @Test(
    "not JSON",
    arguments: [
      "", "nul", "01", "1.", "-", "+1", "1e", "[1,]", "[1 2]", "[", "{\"a\"}", "{a:1}", "{\"a\":1,}", "\"a", "\"\n\"",
      "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "1 2", "'a'", "{\"a\":1,\"a\":2}",
    ])
  func faults(text: String) { #expect(read(text) == nil) }

  @Test("a member that comes twice: refused with its place, or the last counts, at the first one's place")
  func repeated() throws {
    let text = Array("{\"a\": 1,\n \"b\": 2, \"a\": 3}".utf8)
    let failure = try #require(throws: JSONParser.Failure.self) { try JSONParser.parse(text) }
    #expect((failure.offset, failure.line, failure.column) == (18, 2, 10))
    #expect(failure.reason == "the member \"a\" comes twice")
    let value = try JSONParser.parse(text, repeated: .lastCounts)
    #expect(value == .object([.init(name: "a", value: .number("3")), .init(name: "b", value: .number("2"))]))
  }

  @Test("names are two when their bytes differ, though Swift calls them equal")
  func composed() throws {
    guard case .object(let members)? = read("{\"\u{E9}\": 1, \"e\u{301}\": 2}") else { return #expect(Bool(false)) }
    #expect(members.count == 2)
  }

  @Test("as deep as is allowed, and one level deeper")
  func deep() {
    func nested(_ levels: Int) -> String {
      String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }
    #expect(read(nested(JSONParser.greatestDepth)) != nil)
    #expect(read(nested(JSONParser.greatestDepth + 1)) == nil)
    #expect(read(String(repeating: "[", count: 1_000_000)) == nil)
  }

  @Test("quoted: read back it is the same text")
  func quotes() {
    for text in ["", "a\"b\\c", "\u{1}\n\t\r", "é🌱", "0x36"] {
      #expect(read(JSONText.quoted(text)) == .text(text))
    }
  }

  @Test("whole numbers: JSON knows one kind of number, so a fraction of zero is none; nothing is rounded")
  func wholeNumbers() {
    let whole: [(String, Int)] = [
      ("1", 1), ("1.0", 1), ("10.00", 10), ("1e1", 10), ("12.5e1", 125), ("-3.0", -3), ("-0.0", 0),
      ("9007199254740993", 9_007_199_254_740_993),
      ("9007199254740992.0", 9_007_199_254_740_992),
    ]
    for (text, number) in whole { #expect(read(text)?.wholeNumber == number, "\(text)") }
    for text in [
      "1.5", "1e-1", "1e99", "1e999", "9007199254740994.0", "99999999999999999999", "true", "\"1\"", "null", "[1]",
    ] {
      #expect(read(text) != nil && read(text)?.wholeNumber == nil, "\(text)")
    }
  }

  @Test("50,000 mutated documents: a value or an error within the text")
  func fuzz() throws {
    var random = SplitMix64(seed: 99)
    let document = Array(#"{"name":"Basil","sensors":["0x36","0x37"],"dry":20.5,"x":[null,true,{"y":"\u00e9"}]}"#.utf8)
    var count = 0
    for _ in 0..<50_000 {
      let bytes = mutated(document, &random)
      do throws(JSONParser.Failure) {
        _ = try JSONParser.parse(bytes, repeated: random.next() % 2 == 0 ? .lastCounts : .refused)
        count += 1
      } catch {
        try #require((0...bytes.count).contains(error.offset), "seed 99: \(bytes)")
      }
    }
    #expect(count > 1_000)
  }
}
