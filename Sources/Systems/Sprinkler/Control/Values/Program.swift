import WallTime

/// A repeating schedule: the days and times at which it starts, and the zones that it waters, in order and with their durations.
public struct Program: Sendable, Hashable, Codable {
  /// The program's number, from 1 up; the store assigns it.
  public var id: Int
  /// The program's name, 1…60 characters.
  public var name: String
  public var isEnabled: Bool
  public var days: DayRule
  /// The dates between which the program starts, both included; the season may wrap over the new year. `nil` for all year.
  public var season: Season?
  /// The times of day at which the program starts: 1…8, each at most once.
  public var starts: [StartTime]
  /// The zones to water, in this order; 1…64 steps. A zone may appear more than once.
  public var steps: [Step]
  /// The rule by which long runs are split so that water can soak in, or `nil` if they are not split.
  public var cycleAndSoak: CycleAndSoak?
  /// Whether durations are scaled by the seasonal level.
  public var followsSeason: Bool
  /// Whether a rain delay suppresses the program, and ends its open runs if the configuration says so.
  public var skipsInRain: Bool
  /// The rule that decides how long zones are watered, or `nil` if the steps of the program do.
  public var adjustment: Adjustment?
  /// The rank among programs that start at the same instant, −100…100; the higher one comes first.
  public var priority: Int
  /// The name under which an app that names schedules itself knows this program: 1…64 characters that are not a number,
  /// unique among all programs; `nil` if no app has named it.
  public var alias: String?

  /// A rule that decides, in place of a program's steps, how long zones are watered.
  public enum Adjustment: String, Sendable, Hashable, Codable {
    /// The deficit of each zone decides. The steps' seconds apply to zones without a valid deficit, and limit the
    /// duration of the others.
    case deficit
  }

  public struct Step: Sendable, Hashable, Codable {
    public var zone: ZoneID
    /// The duration before the seasonal level is applied, in seconds; 1…86,400. For a step by litres it is the longest
    /// duration, to which no level is applied.
    public var seconds: Int
    /// The water before the seasonal level is applied, 0.1…100,000 l, or `nil` for a step by time.
    public var litres: Double?

    public init(zone: ZoneID, seconds: Int, litres: Double? = nil) {
      self.zone = zone
      self.seconds = seconds
      self.litres = litres
    }
  }

  public struct CycleAndSoak: Sendable, Hashable, Codable {
    /// The longest single run, in seconds; 60…86,400.
    public var cycleSeconds: Int
    /// The shortest time for which the zone stays closed before its next cycle, in seconds; 0…86,400.
    public var soakSeconds: Int

    public init(cycleSeconds: Int, soakSeconds: Int) {
      self.cycleSeconds = cycleSeconds
      self.soakSeconds = soakSeconds
    }
  }

  public init(
    id: Int, name: String, isEnabled: Bool = true, days: DayRule, season: Season? = nil, starts: [StartTime],
    steps: [Step], cycleAndSoak: CycleAndSoak? = nil, followsSeason: Bool = true, skipsInRain: Bool = true,
    adjustment: Adjustment? = nil, priority: Int = 0, alias: String? = nil
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
    self.adjustment = adjustment
    self.priority = priority
    self.alias = alias
  }
}

/// A rule that says on which local dates a program starts.
public enum DayRule: Sendable, Hashable, Codable {
  /// The program starts on the days of the week whose bits are set; bit 0 is Monday, bit 6 Sunday. With no bit set the
  /// program never starts by itself.
  case weekdays(UInt8)
  /// The program starts every `days` days, 1…365, counted from the date `from`.
  case interval(days: Int, from: LocalDate)
  /// The program starts on odd days of the month, but neither on a 31st nor on 29 February, so that two odd days never
  /// follow each other.
  case odd
  /// The program starts on even days of the month.
  case even
}

/// The time of day at which a program starts.
public enum StartTime: Sendable, Hashable, Codable {
  /// The start is this number of minutes after local midnight, 0…1,439.
  case clock(minute: Int)
  /// The start is this number of minutes after sunrise, negative before it; −720…720.
  case sunrise(offsetMinutes: Int)
  /// The start is this number of minutes after sunset, negative before it; −720…720.
  case sunset(offsetMinutes: Int)
}

/// A part of the year, from one day to another, both included.
public struct Season: Sendable, Hashable, Codable {
  public var from: MonthDay
  public var to: MonthDay

  public init(from: MonthDay, to: MonthDay) {
    self.from = from
    self.to = to
  }
}

/// A day of every year; 29 February counts as 28 February in years without one.
public struct MonthDay: Sendable, Hashable, Comparable, Codable {
  /// The month, 1…12.
  public var month: Int
  /// The day of the month, 1…31.
  public var day: Int

  public init(month: Int, day: Int) {
    self.month = month
    self.day = day
  }

  public static func < (left: Self, right: Self) -> Bool { (left.month, left.day) < (right.month, right.day) }
}
