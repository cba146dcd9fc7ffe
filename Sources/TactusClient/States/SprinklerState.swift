/// The sprinkler, as `GET /api/sprinkler` says it.
public struct SprinklerState: Codable, Equatable, Sendable {
  /// What it does.
  public struct Mode: DaemonWord {
    /// The word.
    public var rawValue: String
    /// Takes any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Every valve is closed.
    public static let idle: Mode = "idle"
    /// Water runs.
    public static let watering: Mode = "watering"
    /// It was paused.
    public static let paused: Mode = "paused"
    /// It is in fault and needs a reset.
    public static let fault: Mode = "fault"
    /// It was emergency-stopped and needs a reset.
    public static let emergencyStopped: Mode = "emergencyStopped"
    /// The daemon shuts down.
    public static let shutDown: Mode = "shutDown"
    /// All of them.
    public static let known: [Mode] = [.idle, .watering, .paused, .fault, .emergencyStopped, .shutDown]
  }

  /// One zone.
  public struct Zone: Codable, Equatable, Sendable, Identifiable {
    /// Its number, 1…64.
    public var id: Int
    /// Its name.
    public var name: String
    /// Whether it may be opened.
    public var isEnabled: Bool
    /// Whether its valve is open.
    public var isOn: Bool
    /// Until its valve closes, seconds, rounded up; `nil` while it is closed.
    public var remainingSec: Int?
    /// The length of a run that nobody gave one, minutes.
    public var defaultMinutes: Double
    /// No run is longer, minutes.
    public var maxMinutes: Double
    /// How long it was open on this local day, seconds.
    public var ranTodaySec: Double
    /// The water of its open run by the flow sensor, litres; `nil` while it is closed, or without a sensor.
    public var runLitres: Double?
    /// The water that its open run is to have, litres; `nil` while it is closed, or for a run by time.
    public var runLitresAsked: Double?
  }

  /// A run that waits for its turn.
  public struct QueuedRun: Codable, Equatable, Sendable, Identifiable {
    /// Its number.
    public var runId: Int
    /// The zone that it will open.
    public var zoneId: Int
    /// For how long, seconds; of a run by litres at most.
    public var seconds: Int
    /// How much water, litres; `nil` for a run by time.
    public var litres: Double?
    /// Who wants it: `manual`, `schedule`, `once`, `resumed`.
    public var source: String
    /// The schedule that it belongs to; `nil` for none.
    public var scheduleId: Int?
    /// Until it opens if nobody changes anything, seconds; `nil` if that is not known.
    public var inSec: Int?

    /// Its number.
    public var id: Int { runId }
  }

  /// The rain delay.
  public struct RainDelay: Codable, Equatable, Sendable {
    /// Whether one is in force.
    public var active: Bool
    /// When it ends, ISO 8601; `nil` if there is none.
    public var until: String?
    /// `manual`, `weather` or `sensor`; `nil` if there is none.
    public var reason: String?
    /// What the forecast or the rain sensor said; `nil` if neither made the delay.
    public var detail: String?
  }

  /// The next run of a schedule.
  public struct NextRun: Codable, Equatable, Sendable {
    /// The zone that opens first.
    public var zoneId: Int
    /// When, ISO 8601.
    public var startISO: String
    /// For how long, seconds.
    public var seconds: Int
    /// The schedule; `nil` for none.
    public var scheduleId: Int?
    /// Its name; `nil` for none.
    public var scheduleName: String?
  }

  /// What it does.
  public var state: Mode
  /// Why, in words.
  public var reason: String
  /// What makes it usable again; `nil` when it is.
  public var wayOut: String?
  /// The cause of a fault; `nil` if there is none.
  public var fault: String?
  /// Until a pause ends, seconds; `nil` without a pause.
  public var pausedRemainingSec: Int?
  /// The zones, in their order.
  public var zones: [Zone]
  /// What waits for its turn, the first 64.
  public var queue: [QueuedRun]
  /// How many runs wait.
  public var queueCount: Int
  /// The rain delay.
  public var rainDelay: RainDelay
  /// The next run of a schedule; `nil` if none is known.
  public var nextRun: NextRun?
  /// The seasonal level in force today, percent.
  public var seasonalPercent: Int
  /// The controller's time zone, in which people read its times.
  public var timeZone: String
  /// The controller's time with its offset, ISO 8601.
  public var localTime: String
}
