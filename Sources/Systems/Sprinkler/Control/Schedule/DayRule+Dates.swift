import WallTime

extension DayRule {
  /// Returns whether a program with this rule starts on that date.
  ///
  /// - Parameter day: the date as days since 1970, which callers have computed already.
  func includes(_ date: LocalDate, day: Int) -> Bool {
    switch self {
    case .weekdays(let days): days >> UInt8(clamping: (day + 3) - (day + 3).flooredQuotient(7) * 7) & 1 == 1
    case .interval(let every, let from):
      day >= from.daysSince1970 && (day - from.daysSince1970) % every == 0
    case .odd: date.day % 2 == 1 && date.day != 31 && !(date.month == 2 && date.day == 29)
    case .even: date.day % 2 == 0
    }
  }
}

extension Season {
  /// Returns whether the date is in the season. Both ends are included; a season whose `to` is before its `from` wraps over the new year.
  func includes(_ date: LocalDate) -> Bool {
    let first = from.inYear(of: date)
    let last = to.inYear(of: date)
    let day = MonthDay(month: date.month, day: date.day)
    return from <= to ? first <= day && day <= last : first <= day || day <= last
  }
}

extension MonthDay {
  /// Returns this day in the year of `date`: 29 February becomes the 28th in years without one.
  fileprivate func inYear(of date: LocalDate) -> Self {
    month == 2 && day == 29 && !date.isLeapYear ? Self(month: 2, day: 28) : self
  }
}
