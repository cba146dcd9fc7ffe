/// A page of the sprinkler's log: runs that ended, and those that were suppressed.
public struct WateringLog: Codable, Equatable, Sendable {
  /// The outcome of a run.
  public struct Outcome: DaemonWord {
    /// The daemon's word for the outcome.
    public var rawValue: String
    /// Creates an outcome from any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The zone was open for as long as was asked.
    public static let completed: Outcome = "completed"
    /// Somebody closed the zone.
    public static let stopped: Outcome = "stopped"
    /// Another run took its place.
    public static let replaced: Outcome = "replaced"
    /// A rain delay suppressed or ended the run.
    public static let rainDelay: Outcome = "rainDelay"
    /// An emergency stop ended the run.
    public static let emergencyStop: Outcome = "emergencyStop"
    /// A fault ended the run.
    public static let fault: Outcome = "fault"
    /// The daemon was shut down.
    public static let shutdown: Outcome = "shutdown"
    /// The power failed.
    public static let powerCut: Outcome = "powerCut"
    /// The daemon ended unexpectedly.
    public static let crash: Outcome = "crash"
    /// The zone had been open for as long as it may be on a day.
    public static let dayLimit: Outcome = "dayLimit"
    /// The zone is disabled.
    public static let disabled: Outcome = "disabled"
    /// The seasonal level left nothing of the run.
    public static let seasonalLevel: Outcome = "seasonalLevel"
    /// The daemon was not running at the time of the start.
    public static let missed: Outcome = "missed"
    /// The previous run of the schedule had not ended.
    public static let overlap: Outcome = "overlap"
    /// The zone had been open for as long as it may be at a time.
    public static let runLimit: Outcome = "runLimit"
    /// Something else closed the valve.
    public static let externalStop: Outcome = "externalStop"
    /// The clock was wrong.
    public static let wrongClock: Outcome = "wrongClock"
    /// The soil was wet.
    public static let wetSoil: Outcome = "wetSoil"
    /// The zone had no deficit of water.
    public static let noDeficit: Outcome = "noDeficit"
    /// A run by litres had not delivered them in its longest time.
    public static let timeLimit: Outcome = "timeLimit"
    /// All words that this client knows.
    public static let known: [Outcome] = [
      .completed, .stopped, .replaced, .rainDelay, .emergencyStop, .fault, .shutdown, .powerCut, .crash, .dayLimit,
      .disabled, .seasonalLevel, .missed, .overlap, .runLimit, .externalStop, .wrongClock, .wetSoil, .noDeficit,
      .timeLimit,
    ]
  }

  /// One run of a zone in the log.
  public struct Run: Codable, Equatable, Sendable {
    /// The number of the run.
    public var runId: Int
    /// The number of the zone.
    public var zoneId: Int
    /// The name of the zone at that time.
    public var zoneName: String
    /// The number of the schedule, or `nil` if the run was started by hand.
    public var scheduleId: Int?
    /// The name of the schedule, or `nil` if the run was started by hand.
    public var scheduleName: String?
    /// Whether the run was started by the schedule's own start.
    public var isScheduled: Bool
    /// The instant at which the valve opened, or should have, in ISO 8601.
    public var startISO: String
    /// The requested length in seconds; the greatest length for a run by litres.
    public var askedSec: Int
    /// The time for which the valve was open in seconds, without pauses; 0 if it never opened.
    public var ranSec: Double
    /// The requested amount of water in litres, or `nil` for a run by time.
    public var askedLitres: Double?
    /// The water by the flow sensor in litres, or `nil` if the valve never opened or there is no sensor.
    public var litres: Double?
    /// The outcome of the run.
    public var outcome: Outcome
    /// The origin of the request, or `nil` for the controller itself.
    public var caller: String?
    /// The rain, the deficit or the soil that decided the outcome, in words, or `nil` if none did.
    public var why: String?
  }

  /// The runs, the newest first.
  public var runs: [Run]
  /// The value of `after` that asks for the next page. It is `nil` on the last page.
  public var next: String?
}

/// The seasonal level of the sprinkler, by which the durations of schedules are multiplied.
public struct SeasonalLevel: Codable, Equatable, Sendable {
  /// The level of the year, percent.
  public var percent: Int
  /// The levels of the months in percent, January first, or empty if the level is the same all year.
  public var monthlyPercent: [Int]
  /// The level in force today, percent.
  public var effectivePercent: Int
}
