/// The statistics of a loop since its runtime started, as read at one instant.
///
/// The sum `counters.ran + counters.skipped + counters.byDeadline + counters.byInput` equals `latency.count`: every release is
/// counted, so an outage shows with its whole length, however few releases ran after it.
public struct LoopStatistics: Sendable {
  /// The name of the loop.
  public let name: String
  /// The name of the lane that owns the loop.
  public let lane: String
  /// The present time between two periodic releases. `Runtime.setRates` changes it.
  public let period: Nanoseconds
  /// The time from the start to the first release, declared or chosen by the planner.
  public let phase: Nanoseconds
  /// The time after a release by which its tick has to end.
  public let deadline: Nanoseconds
  /// The instant at which the statistics hold: CLOCK_MONOTONIC at the time of reading, or at the end of the lane; simulated time in a simulation.
  public let instant: TickInstant
  /// The numbers of releases, by their outcome.
  public let counters: LoopCounters
  /// The tick that is running at `instant`, or `nil` if none is running.
  public let running: RunningTick?
  /// The number of pending or running periodic releases whose deadline has passed at `instant`. It grows while a tick hangs or the
  /// lane gets no processor.
  public let overdue: Int64
  /// The longest time between the starts of two consecutive ticks, or `nil` before the second tick.
  public let longestGap: TickGap?
  /// The latency of every release of any cause: the time from its scheduled instant to the start of its tick or, for a release that
  /// was given up, to the instant at which it was given up.
  public let latency: HistogramSnapshot
  /// The execution time of every tick that has ended, from its start to its end.
  public let execution: HistogramSnapshot
  /// The ages of the data that the loop acted on, one for each declared age.
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

/// A call of `tick` or `safeState` that has begun and not ended.
public struct RunningTick: Sendable, Hashable {
  /// The instant at which the call began.
  public let since: TickInstant
  /// Whether the running call is `safeState`; otherwise it is `tick`.
  public let isSafeState: Bool
}

/// The time between the starts of two consecutive ticks.
public struct TickGap: Sendable, Hashable {
  /// The time from the start of one tick to the start of the next.
  public let length: Nanoseconds
  /// The start of the first of the two ticks.
  public let since: TickInstant
}

/// The exact counters of one loop, for which always `released == ran + skipped + pending`.
public struct LoopCounters: Sendable, Hashable, BitwiseCopyable {
  /// The number of periodic releases that have come due.
  public var released: Int64 = 0
  /// The number of periodic releases that ran, including the running one.
  public var ran: Int64 = 0
  /// The number of periodic releases that were given up under the late policy.
  public var skipped: Int64 = 0
  /// The number of periodic releases that are due and have neither run nor been given up.
  public var pending: Int64 = 0
  /// The number of ticks that were released by the loop's `nextDeadline`.
  public var byDeadline: Int64 = 0
  /// The number of ticks that were released by an input.
  public var byInput: Int64 = 0
  /// The number of ticks whose own work took longer than the period.
  public var overruns: Int64 = 0
  /// The number of periodic releases for which the kernel woke the lane late by more than the loop's tolerance.
  public var oversleeps: Int64 = 0
  /// The number of periodic releases that ran past their deadline, whatever the cause.
  public var deadlineMisses: Int64 = 0
  /// The number of times the loop was put into its safe state because of consecutive misses.
  public var safeStates: Int64 = 0
}

extension LoopStatistics: CustomStringConvertible {
  /// A summary in one line: `pendulum: 3001 ran, 0 skipped, 0 pending; latency p50 22.015 µs, p99 39.935 µs, max 229.677 µs; execution p50 …`
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
