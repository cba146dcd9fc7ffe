import Tactus
import Wire

/// A request to the robot by a client inside the daemon.
public enum RobotOrder: Sendable, Hashable, BitwiseCopyable {
  /// A command as in a datagram. `timestamp` is the client's clock, or `nil` if the client sends none.
  case command(RobotCommand, timestamp: SenderTimestamp? = nil)
  /// Operates a fitting of the board. The order causes no event of the motors' machine.
  case fitting(FittingOrder)
  /// The client disconnects: the robot stops if this client holds control, otherwise nothing happens.
  case leave

  /// Whether the order can only make the robot stop.
  public var isStop: Bool {
    switch self {
    case .command(.drive(let speeds), _): speeds.isZero
    case .command(.twist(let twist), _): twist.isZero
    case .command(.stop, _), .command(.emergencyStop, _), .leave: true
    case .command(.reset, _), .command(.query, _), .fitting: false
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
    case .command(.query, _), .fitting: return nil
    case .command(let command, let timestamp): event = .command(command, timestamp: timestamp, from: source)
    case .leave:
      guard let holder = state.holder, holder.source.isSame(as: source) else { return nil }
      event = .command(.stop, from: source)
    }
    return isStale ? event.late : event
  }
}
