/// The state of the robot, as `GET /api/robot` reports it.
public struct RobotState: Codable, Equatable, Sendable {
  /// The activity of the robot.
  public struct Mode: DaemonWord {
    /// The daemon's word for the activity.
    public var rawValue: String
    /// Creates an activity from any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The robot is at rest.
    public static let stopped: Mode = "stopped"
    /// The robot drives.
    public static let driving: Mode = "driving"
    /// The robot was stopped by an emergency stop and needs a reset.
    public static let emergencyStopped: Mode = "emergencyStopped"
    /// The robot is in fault and needs a reset.
    public static let fault: Mode = "fault"
    /// The daemon is shutting down.
    public static let shutDown: Mode = "shutDown"
    /// All words that this client knows.
    public static let known: [Mode] = [.stopped, .driving, .emergencyStopped, .fault, .shutDown]
  }

  /// The speeds of both wheels in percent of full speed, −100…100, positive forwards.
  public struct WheelSpeeds: Codable, Equatable, Sendable {
    /// The speed of the left wheel.
    public var left: Double
    /// The speed of the right wheel.
    public var right: Double

    /// Creates a pair of speeds.
    public init(left: Double, right: Double) {
      self.left = left
      self.right = right
    }
  }

  /// The client that drives.
  public struct Holder: Codable, Equatable, Sendable {
    /// The daemon's name for the client: `local client 7`, `192.168.1.20:50000`.
    public var source: String
    /// The time since the client's last command in milliseconds.
    public var ageMs: Double
  }

  /// The settings in force.
  public struct Settings: Codable, Equatable, Sendable {
    /// The silence of a driving client in milliseconds after which the robot stops.
    public var failsafeTimeoutMs: Double
    /// The greatest speed of a wheel, in percent of full speed.
    public var speedLimitPercent: Double
  }

  /// The activity of the robot.
  public var state: Mode
  /// The reason for the activity, in words.
  public var reason: String
  /// The action that makes the robot drivable again, or `nil` if it is drivable.
  public var wayOut: String?
  /// The speeds that were written to the motors.
  public var speedsPercent: WheelSpeeds
  /// The commanded speeds, or `nil` if there are none.
  public var targetPercent: WheelSpeeds?
  /// The client that drives, or `nil` if there is none.
  public var holder: Holder?
  /// Whether the robot was stopped by an emergency stop and has not been reset.
  public var emergencyStopped: Bool
  /// The cause of a fault, or `nil` if there is none.
  public var fault: String?
  /// Whether the board has confirmed the stop in force, or `nil` while the robot drives.
  public var stopConfirmed: Bool?
  /// The settings in force.
  public var settings: Settings
}
