import Tactus
import Wire

/// Every event that the device side handles.
public enum RobotEvent: Sendable, Hashable, BitwiseCopyable {
  /// Drives at these speeds, −100…100 %; (0, 0) is a stop. `timestamp` is from the sender's clock, or `nil` if the sender gives none.
  case command(WheelSpeeds, timestamp: SenderTimestamp?, from: ControlSource)
  /// Moves the robot as a whole, in SI units; (0, 0) is a stop. The other values are those of `command`.
  case twist(Twist, timestamp: SenderTimestamp?, from: ControlSource)
  case stop(timestamp: SenderTimestamp?, from: ControlSource)
  case emergencyStop(from: ControlSource)
  /// Leaves an emergency stop or a fault.
  case reset(from: ControlSource)
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
      case .stop, .emergencyStop: true
      default: false
      }
    }
  }

  /// What the event is if it comes too late to be meant: `stale` for a drive and a reset, itself for what stops the robot.
  var late: RobotEvent {
    @_noLocks @_noAllocation get {
      switch self {
      case .command(let speeds, _, _) where !speeds.isZero: .stale(isDrive: true)
      case .twist(let twist, _, _) where !twist.isZero: .stale(isDrive: true)
      case .reset: .stale(isDrive: false)
      default: self
      }
    }
  }
}
