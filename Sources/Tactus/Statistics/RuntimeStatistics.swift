/// The accounts of every loop and lane of a runtime.
public struct RuntimeStatistics: Sendable {
  /// Every loop, in the order of declaration.
  public let loops: [LoopStatistics]
  /// Every lane, in the order of declaration.
  public let lanes: [LaneStatistics]

  /// The accounts of the loop of this name, or `nil` if there is none.
  public subscript(name: String) -> LoopStatistics? { loops.first { $0.name == name } }
}

/// What is counted of a lane itself.
public struct LaneStatistics: Sendable, Hashable {
  /// The name of the lane.
  public let name: String
  /// Of a lane that asked for SCHED_DEADLINE: how often it has used up its processor time of a period without a sleep in
  /// between, since the start; `nil` for other lanes. The kernel stops the thread each time until its next period.
  ///
  /// At least so often: time that several releases used up within one period is not put together. Counted from the thread's
  /// processor time at the end of each tick, since the kernel reports it by a signal alone (SCHED_FLAG_DL_OVERRUN), and
  /// signals belong to the embedding program. A tick that hangs is counted when it ends.
  public let budgetsUsedUp: Int64?
}
