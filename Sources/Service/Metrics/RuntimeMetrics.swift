import Tactus

/// What a runtime measures about its loops and lanes.
public struct RuntimeMetrics: MetricSource {
  private let runtime: Runtime
  private let version: String

  /// - Parameter version: of the program.
  public init(_ runtime: Runtime, version: String) {
    self.runtime = runtime
    self.version = version
  }

  public func write(into writer: inout MetricsWriter) {
    writer.gauge("tactus_build_info", "Always 1; the label says which version runs.", [.init(1, ["version": version])])
    writer.gauge(
      "tactus_memory_locked", "Whether the process's memory is locked.", [.init(runtime.memoryLock == .locked)])
    write(runtime.reports, into: &writer)
    write(runtime.statistics.loops, into: &writer)
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
}
