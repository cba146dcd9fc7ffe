/// The state of the cooling pump, as `GET /api/pump` reports it.
public struct PumpState: Codable, Equatable, Sendable {
  /// The activity of the pump.
  public struct Mode: DaemonWord {
    /// The daemon's word for the activity.
    public var rawValue: String
    /// Creates an activity from any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The activity is unknown.
    public static let unknown: Mode = "unknown"
    /// The pump is off.
    public static let off: Mode = "off"
    /// The pump was turned on and has not confirmed it yet.
    public static let starting: Mode = "starting"
    /// The pump runs.
    public static let on: Mode = "on"
    /// The pump is in fault and needs a reset.
    public static let fault: Mode = "fault"
    /// The pump was stopped by an emergency stop and needs a reset.
    public static let emergencyStopped: Mode = "emergencyStopped"
    /// The daemon is shutting down.
    public static let shutDown: Mode = "shutDown"
    /// All words that this client knows.
    public static let known: [Mode] = [.unknown, .off, .starting, .on, .fault, .emergencyStopped, .shutDown]
  }

  /// The state of the connection to the pump.
  public struct Contact: DaemonWord {
    /// The daemon's word for the state.
    public var rawValue: String
    /// Creates a state from any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// There is no connection.
    public static let down: Contact = "down"
    /// The pump is connected and has not answered yet.
    public static let waiting: Contact = "waiting"
    /// The pump is connected and answers.
    public static let answering: Contact = "answering"
    /// The pump is connected and no longer answers.
    public static let silent: Contact = "silent"
    /// All words that this client knows.
    public static let known: [Contact] = [.down, .waiting, .answering, .silent]
  }

  /// The activity of the pump.
  public var state: Mode
  /// The reason for the activity, in words.
  public var reason: String
  /// The cause of a fault, or `nil` if there is none.
  public var fault: String?
  /// The action that makes the pump usable again, or `nil` if it is usable.
  public var wayOut: String?
  /// The origin of the last switching: `app`, `manual`, `device` or `host`, or `nil` if there was none.
  public var source: String?
  /// The state of the connection to the pump.
  public var contact: Contact
  /// The speed in percent, or `nil` if the pump is off or the speed is unknown.
  public var speedPercent: Int?
  /// The water's temperature in °C, or `nil` if it is unknown.
  public var waterCelsius: Double?
  /// The skin's temperature in °C, or `nil` if it is unknown.
  public var skinCelsius: Double?
  /// The age of the temperatures in milliseconds, or `nil` if there are none.
  public var temperaturesAgeMs: Double?
  /// The time for which the pump has run without a rest, in seconds.
  public var pumpedS: Double
  /// The time until the run limit in seconds, or `nil` if there is none.
  public var leftS: Double?
  /// The remaining time of a rest in seconds, or `nil` if no rest is required.
  public var restS: Double?
}

/// A session: a time in which the pump has run.
public struct PumpSession: Codable, Equatable, Sendable {
  /// The number of the session, from 1, or 0 if the store has not saved it yet.
  public var number: Int
  /// The start of the session in ISO 8601.
  public var start: String
  /// The time for which the pump has run, in seconds.
  public var seconds: Double
  /// The origin of the start, or `nil` if it is unknown.
  public var startedBy: String?
  /// The cause of the end, or `nil` while the session continues.
  public var end: String?
  /// The origin of the end, or `nil` if it is unknown.
  public var endedBy: String?
  /// The mean speed in percent, or `nil` if it is unknown.
  public var speedPercent: Double?
  /// The water's first temperature in °C, or `nil` if it is unknown. The other temperatures have the same meaning.
  public var waterFirstCelsius: Double?
  /// The water's last temperature, °C.
  public var waterLastCelsius: Double?
  /// The water's highest temperature, °C.
  public var waterHighestCelsius: Double?
  /// The skin's first temperature, °C.
  public var skinFirstCelsius: Double?
  /// The skin's last temperature, °C.
  public var skinLastCelsius: Double?
  /// The skin's highest temperature, °C.
  public var skinHighestCelsius: Double?
  /// The note that a person has written about the session. It is `nil` if nobody has written one.
  public var note: String?
}
