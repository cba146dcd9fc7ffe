import Tactus

/// The measurements that a runtime makes of its loops and lanes.
public struct RuntimeMetrics: MetricSource {
  private let runtime: Runtime
  private let version: String

  /// Makes the metrics of a runtime.
  ///
  /// - Parameter version: the version of the program.
  public init(_ runtime: Runtime, version: String) {
    self.runtime = runtime
    self.version = version
  }

  public func write(into writer: inout MetricsWriter) {
    writer.gauge("tactus_build_info", "Always 1; the label says which version runs.", [.init(1, ["version": version])])
    writer.gauge(
      "tactus_memory_locked", "Whether the process's memory is locked.", [.init(runtime.memoryLock == .locked)])
    let isHeld = if case .held = runtime.wakeUpHold { true } else { false }
    writer.gauge(
      "tactus_wake_up_latency_held", "Whether the CPUs' wake-up latency is held (/dev/cpu_dma_latency).",
      [.init(isHeld)])
    write(runtime.reports, into: &writer)
    let statistics = runtime.statistics
    writer.counter(
      "tactus_lane_budgets_used_up_total",
      "How often a SCHED_DEADLINE lane used up its processor time of a period, at least; it is stopped until the next.",
      statistics.lanes.compactMap { lane in lane.budgetsUsedUp.map { .init($0, ["lane": lane.name]) } })
    write(statistics.loops, into: &writer)
    writeAges(statistics.loops, into: &writer)
  }

  private func write(_ lanes: [LaneReport], into writer: inout MetricsWriter) {
    writer.gauge(
      "tactus_lane_realtime", "Whether the lane's thread has real-time scheduling.",
      lanes.map { lane in
        .init(
          lane.effective != .normal,
          ["lane": lane.lane, "requested": "\(lane.requested)", "effective": "\(lane.effective)"])
      })
    writer.gauge(
      "tactus_lane_as_requested", "Whether everything the lane asked of the kernel is in effect.",
      lanes.map { .init($0.isAsRequested, ["lane": $0.lane]) })
  }

  private func write(_ loops: [LoopStatistics], into writer: inout MetricsWriter) {
    func counter(_ name: String, _ help: String, _ value: (LoopCounters) -> Int64) {
      writer.counter(
        "tactus_loop_\(name)_total", help,
        loops.map { .init(value($0.counters), ["lane": $0.lane, "loop": $0.name]) })
    }
    counter("released", "Periodic releases that have come due: ran + skipped + pending.") { $0.released }
    counter("ran", "Periodic releases that ran.") { $0.ran }
    counter("skipped", "Periodic releases given up under the late policy.") { $0.skipped }
    writer.gauge(
      "tactus_loop_pending", "Periodic releases that are due and have neither run nor been given up.",
      loops.map { .init($0.counters.pending, ["lane": $0.lane, "loop": $0.name]) })
    writer.gauge(
      "tactus_loop_overdue",
      "Periodic releases past their deadline whose tick has not ended: grows while a tick hangs.",
      loops.map { .init($0.overdue, ["lane": $0.lane, "loop": $0.name]) })
    writer.gauge(
      "tactus_loop_running_seconds", "How long the present tick has been running; 0 between two ticks.",
      loops.map { loop in
        .init(loop.running.map { loop.instant - $0.since } ?? .zero, ["lane": loop.lane, "loop": loop.name])
      })
    writer.gauge(
      "tactus_loop_longest_gap_seconds", "The longest time between the starts of two ticks in a row, since the start.",
      loops.map { .init($0.longestGap?.length ?? .zero, ["lane": $0.lane, "loop": $0.name]) })
    counter("by_deadline", "Ticks released by the loop's own deadline.") { $0.byDeadline }
    counter("by_input", "Ticks released by an input.") { $0.byInput }
    counter("overruns", "Ticks whose own work took longer than the period.") { $0.overruns }
    counter("oversleeps", "Periodic releases for which the kernel woke the lane too late.") { $0.oversleeps }
    counter("deadline_misses", "Periodic releases that ran past their deadline.") { $0.deadlineMisses }
    counter("safe_states", "How often the loop was put into its safe state for consecutive misses.") { $0.safeStates }
    writer.gauge(
      "tactus_loop_period_seconds", "Time between two periodic releases.",
      loops.map { .init($0.period, ["lane": $0.lane, "loop": $0.name]) })
    writer.histogram(
      "tactus_loop_release_latency_seconds",
      "From the instant a release was due to the start of its tick, or to the instant at which it was given up.",
      loops.map { .init($0.latency, ["lane": $0.lane, "loop": $0.name]) })
    writer.histogram(
      "tactus_loop_execution_seconds", "From the start of a tick to its end.",
      loops.map { .init($0.execution, ["lane": $0.lane, "loop": $0.name]) })
  }

  private func writeAges(_ loops: [LoopStatistics], into writer: inout MetricsWriter) {
    let ages = loops.flatMap { loop in
      loop.ages.map { (age: $0, labels: ["lane": loop.lane, "loop": loop.name, "age": $0.name] as KeyValuePairs) }
    }
    writer.histogram(
      "tactus_loop_age_seconds", "How old the measured data was that a tick used, at the tick's end.",
      ages.map { .init($0.age.age, $0.labels) })
    writer.gauge(
      "tactus_loop_age_now_seconds", "How old by now what the loop used last is: grows while it uses nothing.",
      ages.compactMap { age, labels in age.now.map { .init($0, labels) } })
    writer.gauge(
      "tactus_loop_age_bound_seconds", "What the planner says that no age exceeds.",
      ages.compactMap { age, labels in age.bound.map { .init($0, labels) } })
    writer.counter(
      "tactus_loop_age_unsampled_total", "Ticks that used data which had never been measured.",
      ages.map { .init($0.age.unsampled, $0.labels) })
  }
}
