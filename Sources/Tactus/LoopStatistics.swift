/// What a loop has done since its runtime started, as it was at one instant.
public struct LoopStatistics: Sendable {
  public let name: String
  public let lane: String
  public let period: Nanoseconds
  public let phase: Nanoseconds
  public let counters: LoopCounters
  /// Release latency: from the scheduled instant to the start of the tick, releases of every cause.
  public let latency: HistogramSnapshot
  /// Execution time: from the start of the tick to its end.
  public let execution: HistogramSnapshot
}

/// The exact accounts of one loop. `released == ran + skipped + pending`, always.
public struct LoopCounters: Sendable, Hashable, BitwiseCopyable {
  /// Periodic releases that have come due, as far as the lane has looked.
  public var released: Int64 = 0
  /// Periodic releases that ran.
  public var ran: Int64 = 0
  /// Periodic releases given up under the late policy.
  public var skipped: Int64 = 0
  /// Periodic releases that are due and will still run.
  public var pending: Int64 = 0
  /// Ticks released by the loop's own deadline.
  public var byDeadline: Int64 = 0
  /// Ticks released by an input.
  public var byInput: Int64 = 0
  /// Ticks whose own work took longer than the period.
  public var overruns: Int64 = 0
  /// Periodic releases for which the kernel woke the lane late by more than the loop's tolerance.
  public var oversleeps: Int64 = 0
  /// Periodic releases that ran but ended after their deadline, whatever the cause.
  public var deadlineMisses: Int64 = 0
  /// How often the loop was put into its safe state for consecutive misses.
  public var safeStates: Int64 = 0
}
