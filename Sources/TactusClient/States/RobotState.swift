/// The robot, as `GET /api/robot` says it.
public struct RobotState: Codable, Equatable, Sendable {
  /// What it does.
  public struct Mode: DaemonWord {
    /// The word.
    public var rawValue: String
    /// Takes any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// It stands.
    public static let stopped: Mode = "stopped"
    /// It drives.
    public static let driving: Mode = "driving"
    /// It was emergency-stopped and needs a reset.
    public static let emergencyStopped: Mode = "emergencyStopped"
    /// It is in fault and needs a reset.
    public static let fault: Mode = "fault"
    /// The daemon shuts down.
    public static let shutDown: Mode = "shutDown"
    /// All of them.
    public static let known: [Mode] = [.stopped, .driving, .emergencyStopped, .fault, .shutDown]
  }

  /// Speeds of both wheels, percent of full speed, −100…100, positive forwards.
  public struct WheelSpeeds: Codable, Equatable, Sendable {
    /// The left wheel's.
    public var left: Double
    /// The right wheel's.
    public var right: Double

    /// Creates a pair of speeds.
    public init(left: Double, right: Double) {
      self.left = left
      self.right = right
    }
  }

  /// Who drives.
  public struct Holder: Codable, Equatable, Sendable {
    /// As the daemon calls it: `local client 7`, `192.168.1.20:50000`.
    public var source: String
    /// Since its last command, milliseconds.
    public var ageMs: Double
  }

  /// The rules in force.
  public struct Settings: Codable, Equatable, Sendable {
    /// A driver that is silent for so long is stopped, milliseconds.
    public var failsafeTimeoutMs: Double
    /// No wheel is faster, percent of full speed.
    public var speedLimitPercent: Double
  }

  /// What it does.
  public var state: Mode
  /// Why, in words.
  public var reason: String
  /// What makes it drivable again; `nil` when it is.
  public var wayOut: String?
  /// The speeds as written to the motors.
  public var speedsPercent: WheelSpeeds
  /// The speeds that were commanded; `nil` while none are.
  public var targetPercent: WheelSpeeds?
  /// Who drives; `nil` if nobody does.
  public var holder: Holder?
  /// Whether an emergency stop is latched.
  public var emergencyStopped: Bool
  /// The cause of a fault; `nil` if there is none.
  public var fault: String?
  /// Whether the board has taken the stop in force; `nil` while it drives.
  public var stopConfirmed: Bool?
  /// The rules in force.
  public var settings: Settings
}
