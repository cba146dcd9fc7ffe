/// The state of the servo legs, as `GET /api/leg` reports it.
public struct LegsState: Codable, Equatable, Sendable {
  /// The activity of a leg.
  public struct Mode: DaemonWord {
    /// The daemon's word for the activity.
    public var rawValue: String
    /// Creates an activity from any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The leg is disarmed and has no pulse.
    public static let disarmed: Mode = "disarmed"
    /// The leg is armed: it accepts pulses, and its operator must send commands or pings.
    public static let armed: Mode = "armed"
    /// The leg is in fault and must be disarmed.
    public static let fault: Mode = "fault"
    /// The leg was stopped by an emergency stop and needs a reset.
    public static let emergencyStopped: Mode = "emergencyStopped"
    /// The daemon is shutting down.
    public static let shutDown: Mode = "shutDown"
    /// All words that this client knows.
    public static let known: [Mode] = [.disarmed, .armed, .fault, .emergencyStopped, .shutDown]
  }

  /// The state of one leg.
  public struct Leg: Codable, Equatable, Sendable, Identifiable {
    /// The settings in force.
    public struct Settings: Codable, Equatable, Sendable {
      /// The shortest pulse in µs.
      public var lowestUs: Int
      /// The pulse of the centre in µs.
      public var centreUs: Int
      /// The longest pulse in µs.
      public var highestUs: Int
      /// The silence of its operator in milliseconds after which an armed leg is in fault.
      public var deadmanMs: Double
    }

    /// The number of the leg, 0…31.
    public var index: Int
    /// The name of the leg.
    public var name: String
    /// The activity of the leg.
    public var state: Mode
    /// The reason for the activity, in words.
    public var reason: String
    /// The cause of a fault, or `nil` if there is none.
    public var fault: String?
    /// The action that makes the leg drivable again, or `nil` if it is drivable.
    public var wayOut: String?
    /// The commanded pulse in µs, or `nil` if there is none.
    public var pulseUs: Int?
    /// The target of a slewing pulse in µs, or `nil` without a pulse.
    public var targetUs: Int?
    /// The time since the operator's last command in milliseconds, or `nil` while the leg is disarmed.
    public var ageMs: Double?
    /// The battery's voltage in mV, or `nil` without a sensor.
    public var batteryMv: Int?
    /// The settings in force.
    public var settings: Settings

    /// The identity of the leg, which is its number.
    public var id: Int { index }
  }

  /// The worst activity of all legs.
  public var state: Mode
  /// The legs, by number.
  public var legs: [Leg]
}
