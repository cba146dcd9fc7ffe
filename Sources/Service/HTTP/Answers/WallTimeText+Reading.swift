@_spi(FromOutside) import Conversions
import WallTime

extension WallTimeText {
  /// The form that a text was expected to have. `words` follows the word "expected" in a message.
  struct Expectation: Error, Hashable {
    let words: String

    static let form = Self(words: "an instant like 2026-05-01T00:00:00Z or 2026-05-01T02:00:00+02:00 (RFC 3339)")
    static let date = Self(words: "a date that the calendar has")
    static let time = Self(words: "a time of day, 00:00:00…23:59:59")
    static let offset = Self(words: "an offset from UTC of at most 23:59")
    static let leapSecond = Self(
      words: "the second 60 only where leap seconds are, at 23:59:60 UTC on a month's last day")
  }

  /// Returns the instant, rounded up to a whole second: an event that is recorded in whole seconds is at or after the
  /// instant exactly if it is not before the result.
  ///
  /// All forms of RFC 3339 section 5.6 are read: `T` and `Z` in either case, or a space for the `T`; a fraction of any
  /// length; offsets of −23:59…+23:59. A leap second, which this clock does not count, is read as the first second of
  /// the next day. A space before an offset is read as `+`, because an unescaped `+` in a URL arrives as a space.
  static func instant(_ text: String) throws(Expectation) -> WallInstant {
    var rest = Cursor(text)
    guard let year = rest.number(4), rest.skip("-"), let month = rest.number(2), rest.skip("-"),
      let day = rest.number(2), rest.skip("T", "t", " "), let hour = rest.number(2), rest.skip(":"),
      let minute = rest.number(2), rest.skip(":"), let second = rest.number(2), let isBetween = rest.fraction(),
      let offset = rest.offset(), rest.isAtEnd
    else { throw .form }
    let date = LocalDate(year: year, month: month, day: day)
    guard date.exists else { throw .date }
    guard hour < 24, minute < 60, second <= 60 else { throw .time }
    guard offset.hours < 24, offset.minutes < 60 else { throw .offset }
    let east = (offset.isWest ? -60 : 60) * (offset.hours * 60 + offset.minutes)
    let whole = Int64(date.daysSince1970) * 86_400 + Int64(hour * 3600 + minute * 60 + second - east)
    guard second == 60 else { return WallInstant(secondsSince1970: whole + (isBetween ? 1 : 0)) }
    // A month's last minute in UTC: the next one is the first of the next month.
    guard whole % 86_400 == 0, LocalDate(daysSince1970: Int(whole / 86_400)).day == 1 else { throw .leapSecond }
    return WallInstant(secondsSince1970: whole)
  }

  /// The unread rest of a text, byte by byte.
  private struct Cursor {
    private var bytes: Substring.UTF8View

    init(_ text: String) { bytes = text[...].utf8 }

    var isAtEnd: Bool { bytes.isEmpty }

    mutating func skip(_ characters: Unicode.Scalar...) -> Bool {
      guard let first = bytes.first, characters.contains(where: { $0.value == UInt32(first) }) else { return false }
      bytes.removeFirst()
      return true
    }

    private mutating func digit() -> Int? {
      guard let first = bytes.first, (0x30...0x39).contains(first) else { return nil }
      bytes.removeFirst()
      return Int(first - 0x30)
    }

    /// Reads a number of exactly this many digits. Returns `nil` if there are fewer.
    mutating func number(_ digits: Int) -> Int? {
      var number = 0
      for _ in 0..<digits {
        guard let digit = digit() else { return nil }
        number = number * 10 + digit
      }
      return number
    }

    /// Reads a fraction such as `.5`, or nothing. Returns whether the fraction is more than 0, or `nil` if the point has no digit after it.
    mutating func fraction() -> Bool? {
      guard skip(".") else { return false }
      guard var sum = digit() else { return nil }
      while let digit = digit() { sum |= digit }
      return sum > 0
    }

    /// Reads `Z` or an offset such as `+02:00`. Returns `nil` if the text goes on with neither.
    mutating func offset() -> (isWest: Bool, hours: Int, minutes: Int)? {
      if skip("Z", "z") { return (false, 0, 0) }
      let isWest = skip("-")
      guard isWest || skip("+", " "), let hours = number(2), skip(":"), let minutes = number(2) else { return nil }
      return (isWest, hours, minutes)
    }
  }
}
