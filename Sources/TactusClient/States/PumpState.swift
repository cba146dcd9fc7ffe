/// The cooling pump, as `GET /api/pump` says it.
public struct PumpState: Codable, Equatable, Sendable {
  /// What it does.
  public struct Mode: DaemonWord {
    /// The word.
    public var rawValue: String
    /// Takes any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Nobody knows yet.
    public static let unknown: Mode = "unknown"
    /// It is off.
    public static let off: Mode = "off"
    /// It was told to pump and has not said that it does.
    public static let starting: Mode = "starting"
    /// It pumps.
    public static let on: Mode = "on"
    /// It is in fault and needs a reset.
    public static let fault: Mode = "fault"
    /// It was emergency-stopped and needs a reset.
    public static let emergencyStopped: Mode = "emergencyStopped"
    /// The daemon shuts down.
    public static let shutDown: Mode = "shutDown"
    /// All of them.
    public static let known: [Mode] = [.unknown, .off, .starting, .on, .fault, .emergencyStopped, .shutDown]
  }

  /// The connection to the pump.
  public struct Contact: DaemonWord {
    /// The word.
    public var rawValue: String
    /// Takes any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// There is no connection.
    public static let down: Contact = "down"
    /// It is connected and has not answered yet.
    public static let waiting: Contact = "waiting"
    /// It answers.
    public static let answering: Contact = "answering"
    /// It is connected and no longer answers.
    public static let silent: Contact = "silent"
    /// All of them.
    public static let known: [Contact] = [.down, .waiting, .answering, .silent]
  }

  /// What it does.
  public var state: Mode
  /// Why, in words.
  public var reason: String
  /// The cause of a fault; `nil` if there is none.
  public var fault: String?
  /// What makes it usable again; `nil` when it is.
  public var wayOut: String?
  /// Who switched it last: `app`, `manual`, `device`, `host`; `nil` if nobody did.
  public var source: String?
  /// The connection to the pump.
  public var contact: Contact
  /// Its speed, percent; `nil` if it is off or the speed is not known.
  public var speedPercent: Int?
  /// The water's temperature, °C; `nil` if it is not known.
  public var waterCelsius: Double?
  /// The skin's temperature, °C; `nil` if it is not known.
  public var skinCelsius: Double?
  /// Since the temperatures were read, milliseconds; `nil` if they never were.
  public var temperaturesAgeMs: Double?
  /// How long it has pumped without a rest, seconds.
  public var pumpedS: Double
  /// Until the run limit, seconds; `nil` if there is none.
  public var leftS: Double?
  /// How long it must still rest, seconds; `nil` if it need not.
  public var restS: Double?
}

/// A time in which the pump has pumped.
public struct PumpSession: Codable, Equatable, Sendable {
  /// Counts the sessions from 1; 0 if the store has not taken it yet.
  public var number: Int
  /// When it began, ISO 8601.
  public var start: String
  /// How long it has pumped, seconds.
  public var seconds: Double
  /// Who began it; `nil` if that is not known.
  public var startedBy: String?
  /// What ended it; `nil` while it goes on.
  public var end: String?
  /// Its mean speed, percent; `nil` if that is not known.
  public var speedPercent: Double?
}
