import Foundation
import Tactus
import TestSupport
import Testing
import WallTime

@testable import Service

@Suite("instants in requests and answers")
struct WallTimeTextTests {
  @Test("written: RFC 3339, with an offset the local time")
  func written() {
    let instant = WallInstant(secondsSince1970: 1_758_436_200)
    #expect(WallTimeText.text(instant) == "2025-09-21T06:30:00Z")
    #expect(WallTimeText.text(instant, offsetSeconds: 7200) == "2025-09-21T08:30:00+02:00")
    #expect(WallTimeText.text(instant, offsetSeconds: -12_600) == "2025-09-21T03:00:00-03:30")
    #expect(WallTimeText.text(WallInstant(secondsSince1970: 951_782_399)) == "2000-02-28T23:59:59Z")
    #expect(WallTimeText.text(WallInstant(secondsSince1970: -1)) == "1969-12-31T23:59:59Z")
  }

  @Test("in the head of an answer: the form that RFC 9110 prefers")
  func headDate() {
    #expect(HTTPDate.text(WallInstant(secondsSince1970: 784_111_777)) == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(HTTPDate.text(WallInstant(secondsSince1970: 1_798_761_599)) == "Thu, 31 Dec 2026 23:59:59 GMT")
    #expect(HTTPDate.text(WallInstant(secondsSince1970: -1)) == "Wed, 31 Dec 1969 23:59:59 GMT")
  }

  @Test("instants and dates at the ends of what 64 bits hold: written, added and subtracted, and none ends the program")
  func ends() {
    let ends = [Int64.min, .min + 1, -1 << 53, 1 << 53, .max - 1, .max]
    for seconds in ends {
      let instant = WallInstant(secondsSince1970: seconds)
      #expect(WallTimeText.text(instant, offsetSeconds: -86_400).hasSuffix("-24:00"))
      #expect(WallTimeText.text(instant).hasSuffix("Z"))
      for other in ends {
        #expect((instant + other).secondsSince1970 == Int64(clamping: Int128(seconds) + Int128(other)))
        #expect((instant - other).secondsSince1970 == Int64(clamping: Int128(seconds) - Int128(other)))
        #expect(instant - WallInstant(secondsSince1970: other) == Int64(clamping: Int128(seconds) - Int128(other)))
      }
    }
    for number in [Int.min, -1, 0, 13, 32, .max] {
      for date in [
        LocalDate(year: number, month: 1, day: 1), LocalDate(year: 2026, month: number, day: 1),
        LocalDate(year: 2026, month: 2, day: number), LocalDate(daysSince1970: number) + number,
      ] {
        #expect((0...6).contains(date.weekday) && date.daysSince1970.magnitude < 1 << 40, "\(date)")
      }
    }
  }

  /// Seconds after 2026-05-01T00:00:00Z.
  private func seconds(_ text: String) throws -> Int64 {
    try WallTimeText.instant(text).secondsSince1970 - 1_777_593_600
  }

  @Test("read: either case, a space for T, offsets up to 23:59 both ways, a + that an address made a space")
  func forms() throws {
    #expect(try seconds("2026-05-01T00:00:00Z") == 0 && (try seconds("2026-05-01t00:00:00z")) == 0)
    #expect(try seconds("2026-05-01 00:00:10Z") == 10)
    #expect(try seconds("2026-05-01T02:00:00+02:00") == 0 && (try seconds("2026-05-01T02:00:00 02:00")) == 0)
    #expect(try seconds("2026-05-01T00:00:00-23:59") == 86_340 && (try seconds("2026-05-01T00:00:00+23:59")) == -86_340)
    #expect(try seconds("2026-05-01T00:00:00-00:00") == 0)
    #expect(try WallTimeText.instant("0000-01-01T00:00:00Z").secondsSince1970 == -62_167_219_200)
    #expect(try WallTimeText.instant("9999-12-31T23:59:59Z").secondsSince1970 == 253_402_300_799)
    #expect(try WallTimeText.instant("2024-02-29T00:00:00Z").secondsSince1970 == 1_709_164_800)
  }

  @Test("a fraction of any length: the first whole second that is not before it")
  func fractions() throws {
    #expect(try seconds("2026-05-01T00:00:00.0Z") == 0 && (try seconds("2026-05-01T00:00:00.5Z")) == 1)
    let digits = String(repeating: "0", count: 100_000)
    #expect(try seconds("2026-05-01T00:00:00.\(digits)Z") == 0)
    #expect(try seconds("2026-05-01T00:00:00.\(digits)1+00:00") == 1)
    #expect(try WallTimeText.instant("1969-12-31T23:59:59.1Z").secondsSince1970 == 0)
  }

  @Test("a leap second: the first second of the next day, in every zone; elsewhere 60 is refused")
  func leapSeconds() throws {
    let newYear: Int64 = 1_483_228_800
    for text in [
      "2016-12-31T23:59:60Z", "2016-12-31T23:59:60.75Z", "2017-01-01T00:59:60+01:00", "2016-12-31T15:59:60-08:00",
    ] {
      #expect(try WallTimeText.instant(text).secondsSince1970 == newYear, "\(text)")
    }
    for text in ["2016-12-31T23:58:60Z", "2016-12-30T23:59:60Z", "2016-12-31T23:59:60+01:00", "2017-01-01T00:00:60Z"] {
      #expect(throws: WallTimeText.Expectation.leapSecond, "\(text)") { try WallTimeText.instant(text) }
    }
  }

  @Test("refused: each for what is wrong with it")
  func refused() {
    let cases: [(WallTimeText.Expectation, [String])] = [
      (
        .form,
        [
          "", "yesterday", "2026-05-01", "2026-05-01T00:00:00", "2026-05-01T00:00Z", "2026-05-01T00:00:00.Z",
          "2026-05-01T00:00:00,5Z", "2026-05-01T00:00:00+0200", "2026-05-01T00:00:00+2:00", "2026-05-01T00:00:00Z ",
          "26-05-01T00:00:00Z", "+2026-05-01T00:00:00Z", "2026-05-01T00:00:00ZZ", "2026-05-01T00:00:00\u{2212}02:00",
          "２026-05-01T00:00:00Z", "1777593600", "2026-W18-5T00:00:00Z", "2026-05-01_00:00:00Z",
        ]
      ),
      (.date, ["2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-10T00:00:00Z", "2026-04-00T00:00:00Z"]),
      (.time, ["2026-05-01T24:00:00Z", "2026-05-01T00:60:00Z", "2026-05-01T00:00:61Z"]),
      (.offset, ["2026-05-01T00:00:00+24:00", "2026-05-01T00:00:00-01:60"]),
    ]
    for (expectation, texts) in cases {
      for text in texts {
        #expect(throws: expectation, "\(text)") { try WallTimeText.instant(text) }
      }
    }
  }

  @Test("2,000 random instants: what is written is read, and as Foundation reads it")
  func random() throws {
    var random = SplitMix64(seed: 3339)
    for _ in 0..<2000 {
      let instant = WallInstant(secondsSince1970: Int64.random(in: -62_135_596_800...253_402_000_000, using: &random))
      let offset = Int.random(in: -1439...1439, using: &random) * 60
      #expect(try WallTimeText.instant(WallTimeText.text(instant)) == instant)
      #expect(try WallTimeText.instant(WallTimeText.text(instant, offsetSeconds: offset)) == instant)
      let modern = WallInstant(secondsSince1970: abs(instant.secondsSince1970) % 4_000_000_000)
      let text = Date(timeIntervalSince1970: Double(modern.secondsSince1970)).formatted(.iso8601)
      #expect(try WallTimeText.instant(text) == modern, "\(text)")
    }
  }

  @Test("in a query: the field, what was expected and what came; a span with its ends the wrong way round is refused")
  func query() throws {
    let now = WallInstant(secondsSince1970: 1_777_593_600)
    func reader(_ values: [String: String]) throws -> QueryReader {
      try QueryReader(values, names: ["since", "until", "order"])
    }
    func span(_ values: [String: String]) throws -> Range<WallInstant> {
      try reader(values).span(since: { $0 - 86_400 }, until: now)
    }
    let refusal = #expect(throws: APIError.self) { try reader(["since": "2026-02-30T00:00:00Z"]).instant("since") }
    #expect(refusal?.code == "VALIDATION" && refusal?.field == "since")
    #expect(refusal?.message == #"since: expected a date that the calendar has, got "2026-02-30T00:00:00Z""#)
    #expect(try reader([:]).instant("since") == nil)
    #expect(try span([:]) == now - 86_400..<now)
    #expect(try span(["until": "2026-04-01T00:00:00Z"]).lowerBound == now - 31 * 86_400)
    for since in ["2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z"] {
      #expect(throws: APIError.self) { try span(["since": since]) }
    }
    #expect(try reader(["order": "oldest"]).word("order", among: ["newest", "oldest"]) == "oldest")
    let word = #expect(throws: APIError.self) {
      try reader(["order": "odd"]).word("order", among: ["newest", "oldest"])
    }
    #expect(word?.message == #"order: expected newest or oldest, got "odd""#)
  }
}
