import Tactus

/// What became of a `RobotRequest`: the loop has taken it, and the motors have been told what follows from it.
public struct RobotAnswer: Sendable, Hashable, BitwiseCopyable {
  /// The request's.
  public let number: UInt64
  public let verdict: Verdict
  /// The tick that took it.
  public let at: TickInstant
  /// The robot at the end of that tick.
  public let state: RobotState

  @_noLocks @_noAllocation
  init(number: UInt64, _ verdict: Verdict, at: TickInstant, _ state: RobotState) {
    self.number = number
    self.verdict = verdict
    self.at = at
    self.state = state
  }
}
