import Tactus
import Wire

/// Every event that the device side handles.
public enum RobotEvent: Sendable, Hashable, BitwiseCopyable {
  /// A command of a datagram or of a client inside the daemon; a drive or a twist of (0, 0) is a stop. `timestamp` is from the sender's clock, or
  /// `nil` if the sender gives none.
  case command(RobotCommand, timestamp: SenderTimestamp? = nil, from: ControlSource)
  /// A request has waited too long in its mailbox to be obeyed. `isDrive` tells whether the request would have moved the robot, in which
  /// case a stick was held when the request was made.
  case stale(isDrive: Bool)
  /// The distance ahead was read, or is no longer known.
  case clearance(Clearance)
  /// The board's battery has this charge in percent.
  case battery(percent: Int)
  /// The robot leans this far, in degrees of roll or pitch, whichever is more.
  case tilt(degrees: Double)
  /// The attitude has not been known for two seconds.
  case attitudeLost
  /// The periodic release of the loop, or its release at `nextDeadline`.
  case tick
  /// The board accepted the last drive output.
  case driveConfirmed
  case driveFailed(MotorFailure)
  /// The board accepted the last stop.
  case stopConfirmed
  case stopFailed(MotorFailure)
  /// The runtime skipped, or finished too late, this many periodic releases in a row.
  case missed(releases: Int64)
  /// Something outside the program has stopped the motors; a stick that is held must not drive on.
  case externalStop
  /// All settings are replaced at a tick boundary.
  case settings(RobotSettings)
  /// The runtime is shutting down.
  case shutdown
}

extension RobotEvent {
  /// Whether the event is a stop by a person or a client.
  var isStop: Bool {
    @_noLocks @_noAllocation get {
      switch self {
      case .command(.stop, _, _), .command(.emergencyStop, _, _): true
      default: false
      }
    }
  }

  /// The event that replaces this one if it has waited too long: `stale` for a drive and a reset, and the event itself
  /// if it stops the robot.
  var late: RobotEvent {
    @_noLocks @_noAllocation get {
      switch self {
      case .command(.drive(let speeds), _, _) where !speeds.isZero: .stale(isDrive: true)
      case .command(.twist(let twist), _, _) where !twist.isZero: .stale(isDrive: true)
      case .command(.reset, _, _): .stale(isDrive: false)
      default: self
      }
    }
  }
}
