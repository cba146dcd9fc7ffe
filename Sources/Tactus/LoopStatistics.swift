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

extension LoopStatistics: CustomStringConvertible {
  /// `pendulum: 3001 ran, 0 skipped, 0 pending; latency p50 22.015 µs, p99 39.935 µs, max 229.677 µs; execution p50 …`
  public var description: String {
    func line(_ histogram: HistogramSnapshot) -> String {
      guard let p50 = histogram.percentile(0.5), let p99 = histogram.percentile(0.99), let most = histogram.maximum
      else { return "none yet" }
      return "p50 \(p50), p99 \(p99), max \(most)"
    }
    return "\(name): \(counters.ran) ran, \(counters.skipped) skipped, \(counters.pending) pending; "
      + "latency \(line(latency)); execution \(line(execution))"
  }
}
