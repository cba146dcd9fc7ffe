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
