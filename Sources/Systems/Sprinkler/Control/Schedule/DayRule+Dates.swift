import WallTime

extension DayRule {
  /// Whether a program starts on that date.
  ///
  /// - Parameter day: the date's days since 1970, which callers have at hand.
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
  /// Both ends included; where `to` is before `from`, over the new year.
  func includes(_ date: LocalDate) -> Bool {
    let first = from.inYear(of: date)
    let last = to.inYear(of: date)
    let day = MonthDay(month: date.month, day: date.day)
    return from <= to ? first <= day && day <= last : first <= day || day <= last
  }
}

extension MonthDay {
  /// 29 February is the 28th where there is none.
  fileprivate func inYear(of date: LocalDate) -> Self {
    month == 2 && day == 29 && !date.isLeapYear ? Self(month: 2, day: 28) : self
  }
}
