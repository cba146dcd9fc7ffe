/// A lane that makes no progress: a tick that does not end, or a release for which no tick is run.
public struct LaneHang: Sendable, Hashable, CustomStringConvertible {
  /// The name of the lane.
  public let lane: String
  /// The name of the loop at which the lane hangs.
  public let loop: String
  /// The reason why the lane hangs.
  public let cause: Cause
  /// The instant at which the tick or the safe state began, or at which the release was due.
  public let since: TickInstant

  /// The reason why a lane hangs.
  public enum Cause: Sendable, Hashable {
    /// The loop's tick has begun and not ended.
    case tick
    /// The loop's `safeState` has begun and not ended.
    case safeState
    /// The loop is due and the lane's thread does not run because the kernel gives it no processor.
    case waiting
  }

  /// The hang as text: `lane "motion": loop "balance": its tick runs since 12.5 s`; the instant is on CLOCK_MONOTONIC.
  public var description: String {
    let what =
      switch cause {
      case .tick: "its tick runs since"
      case .safeState: "its safe state runs since"
      case .waiting: "it is due and waits since"
      }
    return "lane \"\(lane)\": loop \"\(loop)\": \(what) \(Nanoseconds(since.nanoseconds))"
  }
}
