/// What a loop has done since its runtime started, as it was at one instant.
///
/// `latency.count == counters.ran + counters.skipped + counters.byDeadline + counters.byInput`: no release is left out, so
/// an outage shows with its whole length, however few releases ran after it.
public struct LoopStatistics: Sendable {
  /// The name of the loop.
  public let name: String
  /// The name of the lane that owns the loop.
  public let lane: String
  /// The time between two periodic releases, as it is now: `Runtime.setRates` changes it.
  public let period: Nanoseconds
  /// The first release's distance from the start, given or chosen by the planner.
  public let phase: Nanoseconds
  /// After a release, by when its tick has to end.
  public let deadline: Nanoseconds
  /// The instant for which all of this holds. In real time CLOCK_MONOTONIC when it was read, or when the lane ended.
  public let instant: TickInstant
  /// How many releases there were, and what became of them.
  public let counters: LoopCounters
  /// The tick that runs at `instant`, or `nil` if none does.
  public let running: RunningTick?
  /// Periodic releases whose deadline has passed at `instant`, of the pending ones and the one that runs. Grows while a
  /// tick hangs or the lane gets no processor.
  public let overdue: Int64
  /// The longest time between the starts of two ticks in a row; `nil` before the second.
  public let longestGap: TickGap?
  /// Release latency of every release of whatever cause: from its scheduled instant to the start of its tick, or, if it was
  /// given up, to the instant at which it was.
  public let latency: HistogramSnapshot
  /// Execution time of every tick that has ended: from its start to its end.
  public let execution: HistogramSnapshot
  /// How old the data was that it acted on, for each age that the loop is declared with.
  public internal(set) var ages: [AgeStatistics]

  init(
    name: String, lane: String, phase: Nanoseconds, account: LoopAccount, at instant: Int64,
    latency: HistogramSnapshot, execution: HistogramSnapshot, ages: [DataAge]
  ) {
    self.name = name
    self.lane = lane
    self.phase = phase
    period = Nanoseconds(account.period)
    deadline = Nanoseconds(account.deadline)
    self.instant = TickInstant(nanoseconds: instant)
    counters = account.counters(at: instant)
    overdue = account.overdue(at: instant)
    running =
      account.activity == .waiting
      ? nil
      : RunningTick(
        since: TickInstant(nanoseconds: account.activitySince), isSafeState: account.activity == .safeState)
    longestGap =
      account.longestGap == 0
      ? nil
      : TickGap(length: Nanoseconds(account.longestGap), since: TickInstant(nanoseconds: account.longestGapFrom))
    self.latency = latency
    self.execution = execution
    let now = self.instant
    self.ages = ages.map { AgeStatistics($0, usedBy: name, at: now) }
  }
}

/// A tick, or a call of `safeState`, that has begun and not ended.
public struct RunningTick: Sendable, Hashable {
  /// When the call began.
  public let since: TickInstant
  /// Whether the call that runs is `safeState`. If not, it is `tick`.
  public let isSafeState: Bool
}

/// A time between the starts of two ticks in a row.
public struct TickGap: Sendable, Hashable {
  /// From the start of one tick to the start of the next.
  public let length: Nanoseconds
  /// The start of the first of the two.
  public let since: TickInstant
}

/// The exact accounts of one loop. `released == ran + skipped + pending`, always.
public struct LoopCounters: Sendable, Hashable, BitwiseCopyable {
  /// Periodic releases that have come due.
  public var released: Int64 = 0
  /// Periodic releases that ran, the one that runs included.
  public var ran: Int64 = 0
  /// Periodic releases given up under the late policy.
  public var skipped: Int64 = 0
  /// Periodic releases that are due and have neither run nor been given up.
  public var pending: Int64 = 0
  /// Ticks released by the loop's own deadline.
  public var byDeadline: Int64 = 0
  /// Ticks released by an input.
  public var byInput: Int64 = 0
  /// Ticks whose own work took longer than the period.
  public var overruns: Int64 = 0
  /// Periodic releases for which the kernel woke the lane late by more than the loop's tolerance.
  public var oversleeps: Int64 = 0
  /// Periodic releases that ran past their deadline, whatever the cause.
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
