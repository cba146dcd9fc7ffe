import Tactus
import Wire

/// Everything that may happen to the device side.
public enum RobotEvent: Sendable, Hashable, BitwiseCopyable {
  /// Drive at these speeds, −100…100 %. (0, 0) is a stop. `timestamp` is the sender's own, nil when it sends none.
  case command(WheelSpeeds, timestamp: SenderTimestamp?, from: ControlSource)
  case stop(timestamp: SenderTimestamp?, from: ControlSource)
  case emergencyStop(from: ControlSource)
  /// Leave an e-stop or a fault.
  case reset(from: ControlSource)
  /// A request that has waited too long in its mailbox to be obeyed. `isDrive`: it would have moved the robot, so a stick
  /// was held when it was made.
  case stale(isDrive: Bool)
  /// A periodic release, or the release at `nextDeadline`.
  case tick
  /// The board took the last drive output.
  case driveConfirmed
  case driveFailed(MotorFailure)
  /// The board took the last stop.
  case stopConfirmed
  case stopFailed(MotorFailure)
  /// The runtime gave up, or finished too late, so many periodic releases in a row.
  case missed(releases: Int64)
  /// Somebody outside has stopped the motors: a stick that is held does not drive on.
  case externalStop
  /// New settings, whole, at a tick boundary.
  case settings(RobotSettings)
  /// The runtime is stopping.
  case shutdown
}
