@_spi(FromOutside) import Conversions
import Sprinkler
import WallTime

/// The API's notation for the parts of a schedule: `Mon`, `06:30`, `sunrise-20`, `04-15`, `2026-05-01`.
enum ScheduleWords {
  /// The weekdays from Monday on, in the order of the bits of `DayRule.weekdays`.
  static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

  static func weekdayNames(_ weekdays: UInt8) -> [String] {
    Self.weekdays.indices.filter { weekdays & 1 << $0 != 0 }.map { Self.weekdays[$0] }
  }

  /// Returns the weekday, 0 for Monday, of an English name or at least its first three letters in any case; `nil` if it is none.
  static func weekday(_ text: String) -> Int? {
    let names = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    guard text.count >= 3 else { return nil }
    return names.firstIndex { $0.hasPrefix(text.lowercased()) }
  }

  static func text(_ start: StartTime) -> String {
    switch start {
    case .clock(let minute): twoDigits(minute / 60) + ":" + twoDigits(minute % 60)
    case .sunrise(let offset): "sunrise" + signed(offset)
    case .sunset(let offset): "sunset" + signed(offset)
    }
  }

  static func start(_ text: String) -> StartTime? {
    for (word, make) in [("sunrise", StartTime.sunrise), ("sunset", StartTime.sunset)] where text.hasPrefix(word) {
      let rest = text.dropFirst(word.count)
      if rest.isEmpty { return make(0) }
      guard rest.first == "+" || rest.first == "-", rest.dropFirst().allSatisfy({ ("0"..."9").contains($0) }),
        let offset = Int(rest), (-720...720).contains(offset)
      else { return nil }
      return make(offset)
    }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, (1...2).contains(parts[0].count), parts[1].count == 2, let hour = digits(parts[0]),
      let minute = digits(parts[1]), hour < 24, minute < 60
    else { return nil }
    return .clock(minute: hour * 60 + minute)
  }

  static func date(_ text: String) -> LocalDate? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].count == 4, let year = digits(parts[0]), let day = monthDay(parts[1], parts[2]),
      day.day <= daysInMonth(day.month, year: year)
    else { return nil }
    return LocalDate(year: year, month: day.month, day: day.day)
  }

  static func text(_ day: MonthDay) -> String { twoDigits(day.month) + "-" + twoDigits(day.day) }

  static func monthDay(_ text: String) -> MonthDay? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    return parts.count == 2 ? monthDay(parts[0], parts[1]) : nil
  }

  private static func monthDay(_ month: Substring, _ day: Substring) -> MonthDay? {
    guard month.count == 2, day.count == 2, let month = digits(month), let day = digits(day),
      (1...12).contains(month), (1...daysInMonth(month, year: 2000)).contains(day)
    else { return nil }
    return MonthDay(month: month, day: day)
  }

  private static func daysInMonth(_ month: Int, year: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  }

  private static func digits(_ text: Substring) -> Int? {
    text.allSatisfy { ("0"..."9").contains($0) } ? Int(text) : nil
  }

  private static func twoDigits(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }

  private static func signed(_ minutes: Int) -> String {
    minutes == 0 ? "" : (minutes > 0 ? "+" : "") + String(minutes)
  }
}
