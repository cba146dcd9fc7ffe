import Testing
import Wire

@Suite("names that somebody gives") struct GivenNameTests {
  @Test(
    "what people write is a name: emoji of several scalars, joiners of Persian and Hindi, marks",
    arguments: ["Lawn", "Beete & Hecke", "芝生", "👩🏽‍🌾", "❤️", "می‌خواهم", "क्‍ष", "e\u{301}", "a b", "\u{E000}"])
  func names(text: String) {
    #expect(GivenName.flaw(in: text, 1...60) == nil)
  }

  @Test(
    "what is not seen is refused, and named",
    arguments: [0x200B, 0x200E, 0x200F, 0x061C, 0xFEFF, 0xAD, 0x07, 0x0A, 0x7F, 0x85, 0x2028, 0x2029, 0x3164, 0xFFF9]
      + Array(0x202A...0x202E) + Array(0x2060...0x2069) + [0xE0001, 0xE0020, 0xE007F])
  func unseen(value: Int) throws {
    let scalar = try #require(Unicode.Scalar(UInt32(value)))
    let digits = String(value, radix: 16, uppercase: true)
    let name = "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    for text in ["a\(scalar)b", "\(scalar)a", "a\(scalar)"] {
      #expect(GivenName.flaw(in: text, 1...60) == name)
    }
  }

  @Test(
    "a joiner that joins nothing is not seen",
    arguments: ["a\u{200D}", "\u{200C}a", "a\u{200D}\u{200D}b", "a \u{200D}b", "a\u{200C} b"])
  func joiners(text: String) {
    #expect(GivenName.flaw(in: text, 1...60)?.hasPrefix("U+200") == true)
  }

  @Test("the bound is one of characters and one of bytes, four for each character")
  func bounds() {
    let marks = String(repeating: "\u{301}", count: 1_050)
    #expect(GivenName.flaw(in: String(repeating: "a" + marks, count: 60), 1...60) == "126060 bytes")
    #expect(GivenName.flaw(in: String(repeating: "🌱", count: 60), 1...60) == nil)
    #expect(GivenName.flaw(in: String(repeating: "🌱", count: 61), 1...60) == "61 characters")
    #expect(GivenName.flaw(in: "", 1...60) == "nothing" && GivenName.flaw(in: "", 0...60) == nil)
    #expect(GivenName.flaw(in: " \u{A0}", 1...60) == "nothing but spaces")
  }

  @Test(
    "white space that makes two names look alike",
    arguments: [
      (" me", "a space at its start"), ("\u{A0}me", "a space at its start"), ("me ", "a space at its end"),
      ("me\u{3000}", "a space at its end"), ("my  phone", "two spaces in a row"),
      ("my \u{A0}phone", "two spaces in a row"),
      ("my phone", nil), ("me", nil), ("", nil),
    ] as [(String, String?)])
  func misplacedSpace(name: String, found: String?) {
    #expect(GivenName.misplacedSpace(in: name) == found)
  }

  @Test("names that differ in spaces alone look alike, others do not")
  func looksAlike() {
    for name in ["my phone", " my phone", "my phone\u{A0}", "my \u{3000} phone"] {
      #expect(GivenName.looksAlike(name, "my phone") && GivenName.looksAlike("my phone", name))
    }
    for name in ["myphone", "my phones", "My phone", ""] { #expect(!GivenName.looksAlike(name, "my phone")) }
  }

  @Test("a value in an error has at most 160 bytes, and turns nothing round")
  func summary() {
    let marks = "a" + String(repeating: "\u{301}", count: 50_000)
    #expect(JSONValue.text(marks).summary.utf8.count < 200)
    #expect(JSONValue.text("a\u{202E}b").summary == "\"a\u{FFFD}b\"")
    #expect(JSONValue.text("می‌خواهم").summary == "\"می‌خواهم\"")
  }
}
