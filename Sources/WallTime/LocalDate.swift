/// A date of the controller's own calendar (proleptic Gregorian), without a time and a time zone.
public struct LocalDate: Sendable, Hashable, Comparable, Codable {
  /// 2026; 0 and less are years before our era.
  public var year: Int
  /// 1…12.
  public var month: Int
  /// 1…31.
  public var day: Int

  /// A date that may not exist: see `exists`.
  public init(year: Int, month: Int, day: Int) {
    self.year = year
    self.month = month
    self.day = day
  }

  /// Whether the left one comes earlier.
  public static func < (left: Self, right: Self) -> Bool {
    (left.year, left.month, left.day) < (right.year, right.month, right.day)
  }
}

/// An instant of the wall clock, whole seconds since 1970 in UTC. Schedules are computed in it; running durations never are.
public struct WallInstant: Sendable, Hashable, Comparable, Codable, BitwiseCopyable {
  /// Negative before 1970.
  public var secondsSince1970: Int64

  /// The instant so many seconds after the beginning of 1970 in UTC.
  public init(secondsSince1970: Int64) { self.secondsSince1970 = secondsSince1970 }

  /// Whether the left one comes earlier.
  public static func < (left: Self, right: Self) -> Bool { left.secondsSince1970 < right.secondsSince1970 }
  /// So many seconds later; the last instant there is, if it would be beyond it.
  public static func + (left: Self, seconds: Int64) -> Self {
    let (sum, overflows) = left.secondsSince1970.addingReportingOverflow(seconds)
    return Self(secondsSince1970: overflows ? (seconds < 0 ? .min : .max) : sum)
  }
  /// So many seconds earlier; the first instant there is, if it would be before it.
  public static func - (left: Self, seconds: Int64) -> Self {
    Self(secondsSince1970: left - Self(secondsSince1970: seconds))
  }
  /// The seconds from the right one to the left one; as many as there are, if that is more.
  public static func - (left: Self, right: Self) -> Int64 {
    let (difference, overflows) = left.secondsSince1970.subtractingReportingOverflow(right.secondsSince1970)
    return overflows ? (right.secondsSince1970 < 0 ? .max : .min) : difference
  }

  /// From the number of seconds.
  public init(from decoder: any Decoder) throws {
    secondsSince1970 = try decoder.singleValueContainer().decode(Int64.self)
  }

  /// The number of seconds.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(secondsSince1970)
  }
}
