@_spi(FromOutside) import Conversions
import Service
import Sprinkler
import WallTime

extension JSONKind where Value == StartTime {
  static var startTime: JSONKind {
    JSONKind("\"HH:MM\", \"sunrise\" or \"sunset\", those with an offset of at most 720 minutes: \"sunrise-20\"") {
      if case .text(let text) = $0 { ScheduleWords.start(text) } else { nil }
    }
  }
}

extension JSONKind where Value == Int {
  /// A weekday; 0 is Monday.
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
    JSONKind(JSONKind<Int>.integer(1...ZoneID.maximum).expected) { $0.wholeNumber.flatMap { ZoneID($0) } }
  }
}
