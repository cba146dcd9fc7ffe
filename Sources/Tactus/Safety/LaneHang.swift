/// A lane that does not get on: a tick that does not end, or a release that no tick is run for.
public struct LaneHang: Sendable, Hashable, CustomStringConvertible {
  /// The name of the lane.
  public let lane: String
  /// The name of the loop that the lane does not get past.
  public let loop: String
  /// What the lane does not get past.
  public let cause: Cause
  /// When the tick or the safe state began, or when the release was due.
  public let since: TickInstant

  /// What a lane does not get past.
  public enum Cause: Sendable, Hashable {
    /// The loop's tick has begun and not ended.
    case tick
    /// The loop's `safeState` has begun and not ended.
    case safeState
    /// The loop is due and the lane's thread does nothing: the kernel gives it no processor.
    case waiting
  }

  /// `lane "motion": loop "balance": its tick runs since 12.5 s`; the instant is on CLOCK_MONOTONIC.
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
