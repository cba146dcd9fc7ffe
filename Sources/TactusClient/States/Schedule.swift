/// A schedule of the sprinkler.
public struct Schedule: Codable, Equatable, Sendable, Identifiable {
  /// A zone and the time for which it is open.
  public struct Step: Codable, Equatable, Sendable {
    /// The number of the zone.
    public var zoneId: Int
    /// The time in minutes, before the seasonal level is applied.
    public var minutes: Double

    /// Creates a step that opens a zone for a number of minutes.
    public init(zoneId: Int, minutes: Double) {
      self.zoneId = zoneId
      self.minutes = minutes
    }
  }

  /// The number of the schedule.
  public var id: Int
  /// The name of the schedule.
  public var name: String
  /// Whether the schedule starts automatically.
  public var isEnabled: Bool
  /// The weekdays, `Mon`…`Sun`, or `nil` if the schedule runs by an interval or on odd or even days.
  public var days: [String]?
  /// The interval in days, or `nil` if the schedule runs by weekdays.
  public var intervalDays: Int?
  /// The first day of the interval, `YYYY-MM-DD`.
  public var intervalFrom: String?
  /// The days of the month, `odd` or `even`, or `nil` for neither.
  public var dayParity: String?
  /// The starts: `HH:MM`, `sunrise`, `sunset-20`.
  public var startTimes: [String]
  /// The zones, in the order in which they open.
  public var zones: [Step]
  /// Whether a rain delay keeps the schedule from starting.
  public var skipIfRain: Bool
  /// Whether the schedule's durations follow the seasonal level.
  public var followsSeason: Bool
  /// The priority, −100…100. If two schedules start together, the one with the higher priority runs first.
  public var priority: Int
  /// The instant at which the schedule opens its next zone in ISO 8601, or `nil` if it is unknown.
  public var nextStartISO: String?
}

/// The settings of a schedule that is to be added.
public struct NewSchedule: Codable, Equatable, Sendable {
  /// The name of the schedule.
  public var name: String
  /// The starts: `HH:MM`, `sunrise`, `sunset-20`.
  public var startTimes: [String]
  /// The weekdays, `Mon`…`Sun`.
  public var days: [String]
  /// The zones, in the order in which they open.
  public var zones: [Schedule.Step]
  /// Whether the schedule starts automatically.
  public var isEnabled: Bool
  /// Whether a rain delay keeps the schedule from starting.
  public var skipIfRain: Bool

  /// Creates a schedule by weekdays.
  public init(
    name: String, startTimes: [String], days: [String], zones: [Schedule.Step], isEnabled: Bool = true,
    skipIfRain: Bool = true
  ) {
    self.name = name
    self.startTimes = startTimes
    self.days = days
    self.zones = zones
    self.isEnabled = isEnabled
    self.skipIfRain = skipIfRain
  }
}

/// A change of a schedule's settings. Members that are `nil` do not change.
public struct ScheduleChange: Codable, Equatable, Sendable {
  /// The new name of the schedule.
  public var name: String?
  /// The new starts, in the form of `Schedule.startTimes`.
  public var startTimes: [String]?
  /// The new weekdays, `Mon`…`Sun`.
  public var days: [String]?
  /// The new zones, in the order in which they open.
  public var zones: [Schedule.Step]?
  /// Whether the schedule starts automatically.
  public var isEnabled: Bool?
  /// Whether a rain delay keeps the schedule from starting.
  public var skipIfRain: Bool?

  /// Creates a change of the settings that are not `nil`.
  public init(
    name: String? = nil, startTimes: [String]? = nil, days: [String]? = nil, zones: [Schedule.Step]? = nil,
    isEnabled: Bool? = nil, skipIfRain: Bool? = nil
  ) {
    self.name = name
    self.startTimes = startTimes
    self.days = days
    self.zones = zones
    self.isEnabled = isEnabled
    self.skipIfRain = skipIfRain
  }
}

/// A future start of a schedule.
public struct ScheduledStart: Codable, Equatable, Sendable {
  /// The run of one zone.
  public struct Run: Codable, Equatable, Sendable {
    /// The number of the zone.
    public var zoneId: Int
    /// The estimated instant at which the zone opens in ISO 8601.
    public var startISO: String
    /// The length of the run in seconds; the greatest length for a run by litres.
    public var seconds: Int
    /// The amount of water in litres, or `nil` for a run by time.
    public var litres: Double?
    /// The reason why the run will not take place as far as is known now, or `nil` if it will.
    public var skipped: String?
    /// The rain, the deficit or the soil that changes the run, in words, or `nil` if none does.
    public var why: String?
  }

  /// The number of the schedule.
  public var scheduleId: Int
  /// The name of the schedule.
  public var scheduleName: String
  /// The instant of the start in ISO 8601.
  public var startISO: String
  /// The instant of the start with the controller's offset, in ISO 8601.
  public var startLocal: String
  /// Whether the rain delay in force will suppress the run.
  public var inRainDelay: Bool
  /// The runs, in the order in which the zones open.
  public var runs: [Run]
}
