/// A schedule of the sprinkler.
public struct Schedule: Codable, Equatable, Sendable, Identifiable {
  /// A zone and for how long.
  public struct Step: Codable, Equatable, Sendable {
    /// The zone.
    public var zoneId: Int
    /// Minutes, before the seasonal level.
    public var minutes: Double

    /// Creates a step.
    public init(zoneId: Int, minutes: Double) {
      self.zoneId = zoneId
      self.minutes = minutes
    }
  }

  /// Its number.
  public var id: Int
  /// Its name.
  public var name: String
  /// Whether it starts by itself.
  public var isEnabled: Bool
  /// The weekdays, `Mon`…`Sun`; `nil` if it goes by an interval or by odd and even days.
  public var days: [String]?
  /// Every so many days; `nil` if it goes by weekdays.
  public var intervalDays: Int?
  /// The day that the interval is counted from, `YYYY-MM-DD`.
  public var intervalFrom: String?
  /// `odd` or `even` days of the month; `nil` for neither.
  public var dayParity: String?
  /// When it starts: `HH:MM`, `sunrise`, `sunset-20`.
  public var startTimes: [String]
  /// The zones, in their order.
  public var zones: [Step]
  /// Whether a rain delay keeps it from starting.
  public var skipIfRain: Bool
  /// Whether its durations follow the seasonal level.
  public var followsSeason: Bool
  /// Of two that start together the one with the higher priority comes first, −100…100.
  public var priority: Int
  /// When it next opens a zone, ISO 8601; `nil` if that is not known.
  public var nextStartISO: String?
}

/// A schedule that is to be made.
public struct NewSchedule: Codable, Equatable, Sendable {
  /// Its name.
  public var name: String
  /// When it starts: `HH:MM`, `sunrise`, `sunset-20`.
  public var startTimes: [String]
  /// The weekdays, `Mon`…`Sun`.
  public var days: [String]
  /// The zones, in their order.
  public var zones: [Schedule.Step]
  /// Whether it starts by itself.
  public var isEnabled: Bool
  /// Whether a rain delay keeps it from starting.
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

/// What is to become different of a schedule. What is `nil` stays as it is.
public struct ScheduleChange: Codable, Equatable, Sendable {
  /// Its name.
  public var name: String?
  /// When it starts.
  public var startTimes: [String]?
  /// The weekdays.
  public var days: [String]?
  /// The zones.
  public var zones: [Schedule.Step]?
  /// Whether it starts by itself.
  public var isEnabled: Bool?
  /// Whether a rain delay keeps it from starting.
  public var skipIfRain: Bool?

  /// Creates a change.
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

/// A start of a schedule that is to come.
public struct ScheduledStart: Codable, Equatable, Sendable {
  /// The schedule.
  public var scheduleId: Int
  /// Its name.
  public var scheduleName: String
  /// When, ISO 8601.
  public var startISO: String
  /// When, with the controller's offset, ISO 8601.
  public var startLocal: String
  /// Whether the rain delay in force will suppress it.
  public var inRainDelay: Bool
}
