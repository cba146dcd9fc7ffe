@_spi(FromOutside) import Conversions

/// Reads the parts of a time zone's rule one after the other.
struct ZoneRuleReader {
  private let text: [Character]
  private var place = 0

  init(_ text: String) { self.text = Array(text) }

  /// The character that is read next, or `nil` at the end.
  var next: Character? { place < text.count ? text[place] : nil }
  var isAtEnd: Bool { next == nil }

  func failure(_ expected: String) -> ZoneRuleText.Failure {
    let rest = String(text[place...])
    return ZoneRuleText.Failure(description: "expected \(expected), got \(rest.isEmpty ? "the end" : "'\(rest)'")")
  }

  mutating func sign(_ sign: Character, _ expected: String) throws(ZoneRuleText.Failure) {
    guard next == sign else { throw failure(expected) }
    place += 1
  }

  /// Reads `NZST` or `<+0545>`.
  mutating func name(_ expected: String) throws(ZoneRuleText.Failure) {
    let isQuoted = next == "<"
    let start = place + (isQuoted ? 1 : 0)
    var end = start
    while end < text.count, Self.isOfName(text[end], isQuoted) { end += 1 }
    guard end - start >= 3, !isQuoted || end < text.count && text[end] == ">" else { throw failure(expected) }
    place = end + (isQuoted ? 1 : 0)
  }

  private static func isOfName(_ character: Character, _ isQuoted: Bool) -> Bool {
    guard let byte = character.asciiValue else { return false }
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): return true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"): return isQuoted
    default: return false
    }
  }

  /// Reads `-5:45`, `12`, `+3:00:30` and returns the seconds.
  mutating func time(_ expected: String, hours most: Int) throws(ZoneRuleText.Failure) -> Int {
    let start = self
    let isNegative = next == "-"
    if isNegative || next == "+" { place += 1 }
    guard let hours = number(in: 0...most) else { throw start.failure("\(expected), at most \(most) hours") }
    var seconds = hours * 3_600
    for unit in [60, 1] where next == ":" {
      place += 1
      guard let part = number(in: 0...59) else { throw failure("0 to 59 behind the colon") }
      seconds += part * unit
    }
    return isNegative ? -seconds : seconds
  }

  /// Reads `M9.5.0`, `J60` or `59`, with `/3` or without.
  mutating func change() throws(ZoneRuleText.Failure) -> ZoneRuleText.Change {
    let day: ZoneRuleText.Day
    switch next {
    case "M":
      place += 1
      let expected = "a month 1 to 12, a week 1 to 5 and a weekday 0 to 6, as in M9.5.0"
      guard let month = number(in: 1...12) else { throw failure(expected) }
      try sign(".", expected)
      guard let week = number(in: 1...5) else { throw failure(expected) }
      try sign(".", expected)
      guard let weekday = number(in: 0...6) else { throw failure(expected) }
      day = .weekday(month: month, week: week, weekday: weekday)
    case "J":
      place += 1
      guard let number = number(in: 1...365) else { throw failure("a day 1 to 365 behind J") }
      day = .julian(number)
    default:
      guard let number = number(in: 0...365) else { throw failure("a date as in M9.5.0, J60 or 59") }
      day = .zeroBased(number)
    }
    guard next == "/" else { return ZoneRuleText.Change(day: day, seconds: 7_200) }
    place += 1
    return ZoneRuleText.Change(day: day, seconds: try time("the time of the change", hours: 167))
  }

  /// Reads a number of one to three digits. Returns `nil`, and reads nothing, if there is none or it is out of the range.
  private mutating func number(in range: ClosedRange<Int>) -> Int? {
    var end = place
    while end < text.count, end - place < 4, let digit = text[end].asciiValue, (48...57).contains(digit) { end += 1 }
    guard end - place <= 3, let number = Int(String(text[place..<end])), range.contains(number) else { return nil }
    place = end
    return number
  }
}
