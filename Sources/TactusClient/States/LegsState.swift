/// The servo legs, as `GET /api/leg` says them.
public struct LegsState: Codable, Equatable, Sendable {
  /// What a leg does.
  public struct Mode: DaemonWord {
    /// The word.
    public var rawValue: String
    /// Takes any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// It has no pulse.
    public static let disarmed: Mode = "disarmed"
    /// It takes pulses, and must be fed.
    public static let armed: Mode = "armed"
    /// It is in fault: disarm it.
    public static let fault: Mode = "fault"
    /// It was emergency-stopped and needs a reset.
    public static let emergencyStopped: Mode = "emergencyStopped"
    /// The daemon shuts down.
    public static let shutDown: Mode = "shutDown"
    /// All of them.
    public static let known: [Mode] = [.disarmed, .armed, .fault, .emergencyStopped, .shutDown]
  }

  /// One leg.
  public struct Leg: Codable, Equatable, Sendable, Identifiable {
    /// The rules in force.
    public struct Settings: Codable, Equatable, Sendable {
      /// The shortest pulse, microseconds.
      public var lowestUs: Int
      /// The pulse of its middle, microseconds.
      public var centreUs: Int
      /// The longest pulse, microseconds.
      public var highestUs: Int
      /// An armed leg that is not fed for so long is in fault, milliseconds.
      public var deadmanMs: Double
    }

    /// Its number, 0…31.
    public var index: Int
    /// Its name.
    public var name: String
    /// What it does.
    public var state: Mode
    /// Why, in words.
    public var reason: String
    /// The cause of a fault; `nil` if there is none.
    public var fault: String?
    /// What makes it drivable again; `nil` when it is.
    public var wayOut: String?
    /// The pulse as commanded, microseconds; `nil` if there is none.
    public var pulseUs: Int?
    /// Where a slewing pulse is going, microseconds; `nil` without a pulse.
    public var targetUs: Int?
    /// Since the last command that fed it, milliseconds; `nil` while disarmed.
    public var ageMs: Double?
    /// The battery's voltage, millivolts; `nil` without a sensor.
    public var batteryMv: Int?
    /// The rules in force.
    public var settings: Settings

    /// Its number.
    public var id: Int { index }
  }

  /// The worst of the legs' states.
  public var state: Mode
  /// The legs, by number.
  public var legs: [Leg]
}
