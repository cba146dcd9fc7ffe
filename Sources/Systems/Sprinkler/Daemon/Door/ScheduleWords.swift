import Service
import Sprinkler
import WallTime

/// How the API writes the parts of a schedule: `Mon`, `06:30`, `sunrise-20`, `04-15`, `2026-05-01`.
enum ScheduleWords {
  /// Monday first, as the bits of `DayRule.weekdays` are.
  static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

  static func words(_ weekdays: UInt8) -> [String] {
    Self.weekdays.indices.filter { weekdays & 1 << $0 != 0 }.map { Self.weekdays[$0] }
  }

  /// Of a name or its first letters in any case, or `nil` if there is none.
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

  static func text(_ date: LocalDate) -> String { WallTimeText.text(date) }

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

extension JSONKind where Value == StartTime {
  static var startTime: JSONKind {
    JSONKind("\"HH:MM\", \"sunrise\" or \"sunset\", those with an offset of at most 720 minutes: \"sunrise-20\"") {
      if case .text(let text) = $0 { ScheduleWords.start(text) } else { nil }
    }
  }
}

extension JSONKind where Value == Int {
  /// 0 is Monday.
  static var weekday: JSONKind {
    JSONKind("one of \(ScheduleWords.weekdays.joined(separator: ", "))") {
      if case .text(let text) = $0 { ScheduleWords.weekday(text) } else { nil }
    }
  }
}

extension JSONKind where Value == LocalDate {
  static var localDate: JSONKind {
    JSONKind("a date YYYY-MM-DD") { if case .text(let text) = $0 { ScheduleWords.date(text) } else { nil } }
  }
}

extension JSONKind where Value == MonthDay {
  static var monthDay: JSONKind {
    JSONKind("a day of the year MM-DD") { if case .text(let text) = $0 { ScheduleWords.monthDay(text) } else { nil } }
  }
}

extension JSONKind where Value == ZoneID {
  static var zoneID: JSONKind {
    JSONKind("a zone's number 1…\(ZoneID.maximum)") {
      if case .number(let digits) = $0 { Int(digits).flatMap { ZoneID($0) } } else { nil }
    }
  }
}
