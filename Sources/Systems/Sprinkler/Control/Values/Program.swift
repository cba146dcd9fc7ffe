import WallTime

/// A repeating schedule: on which days, when, which zones in which order, how long each.
public struct Program: Sendable, Hashable, Codable {
  /// 1…; given by the store.
  public var id: Int
  /// 1…60 characters.
  public var name: String
  public var isEnabled: Bool
  public var days: DayRule
  /// Only within these dates, both included; may wrap over the new year, or `nil` for all year.
  public var season: Season?
  /// 1…8, each at most once.
  public var starts: [StartTime]
  /// In their order; a zone may come more than once. 1…64.
  public var steps: [Step]
  /// Long runs are split so that water can soak in, or `nil` if they are not.
  public var cycleAndSoak: CycleAndSoak?
  /// Durations follow the seasonal level.
  public var followsSeason: Bool
  /// Not started during a rain delay, and ended by one if the configuration says so.
  public var skipsInRain: Bool
  /// When two programs start at the same instant, the higher one comes first; −100…100.
  public var priority: Int
  /// What an app calls it that gives its schedules names of its own: 1…64 characters that are no number, no two programs' the same;
  /// `nil` if no app does.
  public var alias: String?

  public struct Step: Sendable, Hashable, Codable {
    public var zone: ZoneID
    /// Before the seasonal level, s; 1…86,400.
    public var seconds: Int

    public init(zone: ZoneID, seconds: Int) {
      self.zone = zone
      self.seconds = seconds
    }
  }

  public struct CycleAndSoak: Sendable, Hashable, Codable {
    /// No single run is longer, s; 60…86,400.
    public var cycleSeconds: Int
    /// The zone is closed for at least so long before its next cycle, s; 0…86,400.
    public var soakSeconds: Int

    public init(cycleSeconds: Int, soakSeconds: Int) {
      self.cycleSeconds = cycleSeconds
      self.soakSeconds = soakSeconds
    }
  }

  public init(
    id: Int, name: String, isEnabled: Bool = true, days: DayRule, season: Season? = nil, starts: [StartTime],
    steps: [Step], cycleAndSoak: CycleAndSoak? = nil, followsSeason: Bool = true, skipsInRain: Bool = true,
    priority: Int = 0, alias: String? = nil
  ) {
    self.id = id
    self.name = name
    self.isEnabled = isEnabled
    self.days = days
    self.season = season
    self.starts = starts
    self.steps = steps
    self.cycleAndSoak = cycleAndSoak
    self.followsSeason = followsSeason
    self.skipsInRain = skipsInRain
    self.priority = priority
    self.alias = alias
  }
}

/// On which local dates a program starts.
public enum DayRule: Sendable, Hashable, Codable {
  /// Bit 0 is Monday, bit 6 Sunday. Without any the program never starts by itself.
  case weekdays(UInt8)
  /// Every so many days, counted from that date; 1…365.
  case interval(days: Int, from: LocalDate)
  /// Odd days of the month, but neither a 31st nor 29 February, so that two odd days never follow each other.
  case odd
  /// Even days of the month.
  case even
}

/// When on such a day.
public enum StartTime: Sendable, Hashable, Codable {
  /// Minutes after local midnight, 0…1,439.
  case clock(minute: Int)
  /// Minutes after sunrise, negative before it; −720…720.
  case sunrise(offsetMinutes: Int)
  /// Minutes after sunset.
  case sunset(offsetMinutes: Int)
}

/// A part of the year.
public struct Season: Sendable, Hashable, Codable {
  public var from: MonthDay
  public var to: MonthDay

  public init(from: MonthDay, to: MonthDay) {
    self.from = from
    self.to = to
  }
}

/// A day of every year; 29 February counts as 28 February where there is none.
public struct MonthDay: Sendable, Hashable, Comparable, Codable {
  /// 1…12.
  public var month: Int
  /// 1…31.
  public var day: Int

  public init(month: Int, day: Int) {
    self.month = month
    self.day = day
  }

  public static func < (left: Self, right: Self) -> Bool { (left.month, left.day) < (right.month, right.day) }
}
