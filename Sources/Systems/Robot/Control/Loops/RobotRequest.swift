import Tactus
import Wire

/// What a client inside the daemon asks of the robot.
///
/// Every request that the loop takes is answered with a `RobotAnswer` of the same number, in the order of the requests.
public struct RobotRequest: Sendable, Hashable, BitwiseCopyable {
  public enum Command: Sendable, Hashable, BitwiseCopyable {
    /// As a drive datagram: (0, 0) is a stop; `timestamp` is the client's own clock, nil when it sends none.
    case drive(WheelSpeeds, timestamp: SenderTimestamp?)
    case stop
    case emergencyStop
    /// Leave an e-stop or a fault.
    case reset
    /// Nothing but an answer.
    case query
    /// The client goes: a stop when it holds control, otherwise nothing.
    case leave
  }
  /// The client's side's own, for the answer.
  public var number: UInt64
  /// When the request was made, by `MonotonicClock` or the simulation's clock.
  public var issued: TickInstant
  public var command: Command
  /// As in `ControlSource.local`.
  public var client: UInt32

  public init(number: UInt64, issued: TickInstant, _ command: Command, client: UInt32) {
    self.number = number
    self.issued = issued
    self.command = command
    self.client = client
  }

  /// How long a drive or a reset may wait for the loop. One that waited for longer while the lane was stalled must neither
  /// move the robot nor undo an e-stop when the lane is back: nobody knows any more whether it is still meant. A stop, an
  /// e-stop and a drive of (0, 0) are obeyed whenever they come.
  public static var patience: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(250) }
  }

  /// What the machine must hear of it at `now`, with `state` in force, or `nil` if there is nothing.
  @_noLocks @_noAllocation
  func event(in state: RobotState, at now: TickInstant) -> RobotEvent? {
    let isStale = Mechanism.staleness.acts && (now - issued).count > Self.patience.count
    let source = ControlSource.local(client)
    switch command {
    case .drive(let speeds, let timestamp):
      if isStale && !speeds.isZero { return .stale(isDrive: true) }
      return .command(speeds, timestamp: timestamp, from: source)
    case .stop: return .stop(timestamp: nil, from: source)
    case .emergencyStop: return .emergencyStop(from: source)
    case .reset: return isStale ? .stale(isDrive: false) : .reset(from: source)
    case .query: return nil
    case .leave:
      guard let holder = state.holder, holder.source.isSame(as: source) else { return nil }
      return .stop(timestamp: nil, from: source)
    }
  }
}
