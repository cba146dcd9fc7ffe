/// A date of the proleptic Gregorian calendar, without a time and a time zone.
public struct LocalDate: Sendable, Hashable, Comparable, Codable {
  /// The year, such as 2026. The year 0 is 1 BC, and negative years are before that.
  public var year: Int
  /// The month, 1…12.
  public var month: Int
  /// The day of the month, 1…31.
  public var day: Int

  /// Creates a date, which may not exist: see `exists`.
  public init(year: Int, month: Int, day: Int) {
    self.year = year
    self.month = month
    self.day = day
  }

  /// Returns whether the left date is earlier.
  public static func < (left: Self, right: Self) -> Bool {
    (left.year, left.month, left.day) < (right.year, right.month, right.day)
  }
}

/// An instant of the wall clock in whole seconds since 1970, UTC. It is used for schedules and never for running durations.
public struct WallInstant: Sendable, Hashable, Comparable, Codable, BitwiseCopyable {
  /// The seconds since 1970, negative before it.
  public var secondsSince1970: Int64

  /// Creates the instant that is `secondsSince1970` after the beginning of 1970 in UTC.
  public init(secondsSince1970: Int64) { self.secondsSince1970 = secondsSince1970 }

  /// Returns whether the left instant is earlier.
  public static func < (left: Self, right: Self) -> Bool { left.secondsSince1970 < right.secondsSince1970 }
  /// Returns the instant `seconds` later, or the last possible instant if that is beyond it.
  public static func + (left: Self, seconds: Int64) -> Self {
    let (sum, overflows) = left.secondsSince1970.addingReportingOverflow(seconds)
    return Self(secondsSince1970: overflows ? (seconds < 0 ? .min : .max) : sum)
  }
  /// Returns the instant `seconds` earlier, or the first possible instant if that is before it.
  public static func - (left: Self, seconds: Int64) -> Self {
    Self(secondsSince1970: left - Self(secondsSince1970: seconds))
  }
  /// Returns the seconds from the right instant to the left one, or the nearest end of the range if the difference overflows.
  public static func - (left: Self, right: Self) -> Int64 {
    let (difference, overflows) = left.secondsSince1970.subtractingReportingOverflow(right.secondsSince1970)
    return overflows ? (right.secondsSince1970 < 0 ? .max : .min) : difference
  }

  /// Decodes an instant from its number of seconds.
  public init(from decoder: any Decoder) throws {
    secondsSince1970 = try decoder.singleValueContainer().decode(Int64.self)
  }

  /// Encodes an instant as its number of seconds.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(secondsSince1970)
  }
}

extension LocalDate {
  /// Creates a date from the days since 1 January 1970, which are negative before it and limited to about a million years.
  ///
  /// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
  public init(daysSince1970 days: Int) {
    let shifted = min(max(days, -Self.mostDays), Self.mostDays) + 719_468
    let era = shifted.flooredQuotient(146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    self.init(
      year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month: month,
      day: dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  /// The greatest distance in days, which is beyond every clock and still safe for arithmetic.
  private static let mostDays = 365_000_000

  /// The days since 1 January 1970, negative before it. A date that does not exist (`exists`) gives the days of one nearby.
  public var daysSince1970: Int {
    let (year, month, day) = (min(max(year, -999_999), 999_999), min(max(month, 1), 12), min(max(day, 1), 31))
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = shiftedYear.flooredQuotient(400)
    let yearOfEra = shiftedYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The day of the week, from 0 for Monday to 6 for Sunday.
  public var weekday: Int { (daysSince1970 + 3) - (daysSince1970 + 3).flooredQuotient(7) * 7 }

  /// Whether the year of the date has 366 days.
  public var isLeapYear: Bool { (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 }

  /// The number of days in the month of the date, 28…31.
  public var daysInMonth: Int { Self.daysInMonth(month, isLeapYear: isLeapYear) }

  /// Whether the date exists in the calendar.
  public var exists: Bool { (1...12).contains(month) && day >= 1 && day <= daysInMonth }

  /// Returns the date `days` later, or earlier if `days` is negative.
  public static func + (date: Self, days: Int) -> Self {
    Self(daysSince1970: date.daysSince1970 + min(max(days, -mostDays), mostDays))
  }

  static func daysInMonth(_ month: Int, isLeapYear: Bool) -> Int {
    switch month {
    case 2: isLeapYear ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

extension LocalDate: CustomStringConvertible {
  /// The date in ISO 8601, such as `2026-03-29`.
  public var description: String { "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))" }

  private static func padded(_ number: Int, _ digits: Int) -> String {
    let text = "\(number)"
    return String(repeating: "0", count: Swift.max(0, digits - text.count)) + text
  }
}

extension FixedWidthInteger {
  /// Returns the quotient rounded toward minus infinity. The divisor must be positive.
  public func flooredQuotient(_ divisor: Self) -> Self {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
