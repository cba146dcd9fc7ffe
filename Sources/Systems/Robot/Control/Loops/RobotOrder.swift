import Tactus
import Wire

/// A request to the robot by a client inside the daemon.
public enum RobotOrder: Sendable, Hashable, BitwiseCopyable {
  /// Drives the wheels as a drive datagram does; (0, 0) is a stop. `timestamp` is the client's clock, or `nil` if the client sends none.
  case drive(WheelSpeeds, timestamp: SenderTimestamp?)
  /// Moves the robot as a whole, as a twist datagram does; (0, 0) is a stop.
  case twist(Twist, timestamp: SenderTimestamp?)
  case stop
  case emergencyStop
  /// Leaves an emergency stop or a fault.
  case reset
  /// Operates a fitting of the board. The order causes no event of the motors' machine.
  case fitting(FittingOrder)
  /// Requests an answer and changes nothing.
  case query
  /// The client disconnects: the robot stops if this client holds control, otherwise nothing happens.
  case leave

  /// Whether the order can only make the robot stop.
  public var isStop: Bool {
    switch self {
    case .drive(let speeds, _): speeds.isZero
    case .twist(let twist, _): twist.isZero
    case .stop, .emergencyStop, .leave: true
    case .reset, .fitting, .query: false
    }
  }

  /// Returns the event that the order is for the machine in `state`, or `nil` if the order requires none.
  ///
  /// A drive or a reset that waited too long while the loop was stalled becomes `stale`, because the client may no longer mean it: it
  /// must neither move the robot nor undo an e-stop. A stop, an e-stop and a drive of (0, 0) are obeyed however late they come.
  @_noLocks @_noAllocation
  func event(from source: ControlSource, in state: RobotState, isStale: Bool) -> RobotEvent? {
    let event: RobotEvent
    switch self {
    case .drive(let speeds, let timestamp): event = .command(speeds, timestamp: timestamp, from: source)
    case .twist(let twist, let timestamp): event = .twist(twist, timestamp: timestamp, from: source)
    case .stop: event = .stop(timestamp: nil, from: source)
    case .emergencyStop: event = .emergencyStop(from: source)
    case .reset: event = .reset(from: source)
    case .query, .fitting: return nil
    case .leave:
      guard let holder = state.holder, holder.source.isSame(as: source) else { return nil }
      event = .stop(timestamp: nil, from: source)
    }
    return isStale ? event.late : event
  }
}
