/// The statistics of every loop and lane of a runtime.
public struct RuntimeStatistics: Sendable {
  /// The statistics of every loop, in the order of declaration.
  public let loops: [LoopStatistics]
  /// The statistics of every lane, in the order of declaration.
  public let lanes: [LaneStatistics]

  /// The statistics of the loop with this name, or `nil` if no loop has this name.
  public subscript(name: String) -> LoopStatistics? { loops.first { $0.name == name } }
}

/// The statistics of a lane itself.
public struct LaneStatistics: Sendable, Hashable {
  /// The name of the lane.
  public let name: String
  /// The number of times a SCHED_DEADLINE lane has used up the processor time of a period without a sleep in between, since the
  /// start, or `nil` if the lane requests another scheduling. Each time the kernel stops the thread until its next period.
  ///
  /// The number is a lower bound: processor time that several releases used within one period is not added up. It is derived from
  /// the thread's processor time at the end of each tick, since the kernel reports the event only by a signal
  /// (SCHED_FLAG_DL_OVERRUN) and signals belong to the embedding program. A tick that hangs is counted when it ends.
  public let budgetsUsedUp: Int64?
}
