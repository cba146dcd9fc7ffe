/// The state of the sprinkler, as `GET /api/sprinkler` reports it.
public struct SprinklerState: Codable, Equatable, Sendable {
  /// The activity of the sprinkler.
  public struct Mode: DaemonWord {
    /// The daemon's word for the activity.
    public var rawValue: String
    /// Creates an activity from any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Every valve is closed.
    public static let idle: Mode = "idle"
    /// A zone is open.
    public static let watering: Mode = "watering"
    /// The sprinkler is paused.
    public static let paused: Mode = "paused"
    /// The sprinkler is in fault and needs a reset.
    public static let fault: Mode = "fault"
    /// The sprinkler was stopped by an emergency stop and needs a reset.
    public static let emergencyStopped: Mode = "emergencyStopped"
    /// The daemon is shutting down.
    public static let shutDown: Mode = "shutDown"
    /// All words that this client knows.
    public static let known: [Mode] = [.idle, .watering, .paused, .fault, .emergencyStopped, .shutDown]
  }

  /// The state of one zone.
  public struct Zone: Codable, Equatable, Sendable, Identifiable {
    /// The number of the zone, 1…64.
    public var id: Int
    /// The name of the zone.
    public var name: String
    /// Whether the zone may be opened.
    public var isEnabled: Bool
    /// Whether the zone's valve is open.
    public var isOn: Bool
    /// The time until the valve closes in seconds, rounded up, or `nil` while it is closed.
    public var remainingSec: Int?
    /// The length in minutes of a run for which none is given.
    public var defaultMinutes: Double
    /// The greatest length of a run, in minutes.
    public var maxMinutes: Double
    /// The time for which the valve was open on this local day, in seconds.
    public var ranTodaySec: Double
    /// The water of the present run by the flow sensor in litres, or `nil` while the valve is closed or without a sensor.
    public var runLitres: Double?
    /// The water that the present run is to deliver in litres, or `nil` while the valve is closed or for a run by time.
    public var runLitresAsked: Double?
  }

  /// A run in the queue.
  public struct QueuedRun: Codable, Equatable, Sendable, Identifiable {
    /// The number of the run.
    public var runId: Int
    /// The zone that the run opens.
    public var zoneId: Int
    /// The length of the run in seconds; the greatest length for a run by litres.
    public var seconds: Int
    /// The amount of water in litres, or `nil` for a run by time.
    public var litres: Double?
    /// The origin of the run: `manual`, `schedule`, `once` or `resumed`.
    public var source: String
    /// The schedule to which the run belongs, or `nil` if there is none.
    public var scheduleId: Int?
    /// The time in seconds until the zone opens if nothing changes, or `nil` if it is unknown.
    public var inSec: Int?

    /// The identity of the run, which is its number.
    public var id: Int { runId }
  }

  /// The state of the rain delay.
  public struct RainDelay: Codable, Equatable, Sendable {
    /// Whether a rain delay is in force.
    public var active: Bool
    /// The end of the delay in ISO 8601, or `nil` if there is none.
    public var until: String?
    /// The origin of the delay: `manual`, `weather` or `sensor`, or `nil` if there is none.
    public var reason: String?
    /// The reading of the forecast or the rain sensor, in words, or `nil` if neither caused the delay.
    public var detail: String?
  }

  /// The next run of a schedule.
  public struct NextRun: Codable, Equatable, Sendable {
    /// The zone that the run opens first.
    public var zoneId: Int
    /// The start of the run in ISO 8601.
    public var startISO: String
    /// The length of the run in seconds.
    public var seconds: Int
    /// The number of the schedule, or `nil` if there is none.
    public var scheduleId: Int?
    /// The name of the schedule, or `nil` if there is none.
    public var scheduleName: String?
  }

  /// The activity of the sprinkler.
  public var state: Mode
  /// The reason for the activity, in words.
  public var reason: String
  /// The action that makes the sprinkler usable again, or `nil` if it is usable.
  public var wayOut: String?
  /// The cause of a fault, or `nil` if there is none.
  public var fault: String?
  /// The time until a pause ends in seconds, or `nil` without a pause.
  public var pausedRemainingSec: Int?
  /// The zones, by number.
  public var zones: [Zone]
  /// The first 64 runs of the queue.
  public var queue: [QueuedRun]
  /// The number of runs in the queue.
  public var queueCount: Int
  /// The state of the rain delay.
  public var rainDelay: RainDelay
  /// The next run of a schedule, or `nil` if none is known.
  public var nextRun: NextRun?
  /// The seasonal level in force today, percent.
  public var seasonalPercent: Int
  /// The controller's time zone, in which its times are meant.
  public var timeZone: String
  /// The controller's time with its offset in ISO 8601.
  public var localTime: String
}
