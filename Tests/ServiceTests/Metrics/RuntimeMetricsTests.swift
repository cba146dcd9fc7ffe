import Testing

@testable import Service
@testable import Tactus

@Suite("The runtime's metrics")
struct RuntimeMetricsTests {
  private static func text(_ source: some MetricSource) -> String {
    var writer = MetricsWriter()
    source.write(into: &writer)
    return writer.text
  }

  @Test("a simulated runtime: the whole text")
  func golden() throws {
    let runtime = try Runtime {
      Lane("motion") {
        Loop("balance", every: .hertz(100), phase: .zero, executionTime: .microseconds(20)) { Still() }
      }
    }
    let simulation = try runtime.simulation()
    simulation.oversleep(lane: "motion", at: .zero + .milliseconds(500), by: .milliseconds(5))
    simulation.run(for: .milliseconds(994))
    let text = Self.text(RuntimeMetrics(runtime, version: "1.2.3"))
    let lines = text.split(separator: "\n")
    #expect(
      lines.filter { !$0.hasPrefix("#") && !$0.contains("_bucket") } == [
        #"tactus_build_info{version="1.2.3"} 1"#,
        #"tactus_memory_locked 0"#,
        #"tactus_wake_up_latency_held 0"#,
        #"tactus_loop_released_total{lane="motion",loop="balance"} 100"#,
        #"tactus_loop_ran_total{lane="motion",loop="balance"} 100"#,
        #"tactus_loop_skipped_total{lane="motion",loop="balance"} 0"#,
        #"tactus_loop_pending{lane="motion",loop="balance"} 0"#,
        #"tactus_loop_overdue{lane="motion",loop="balance"} 0"#,
        #"tactus_loop_running_seconds{lane="motion",loop="balance"} 0"#,
        #"tactus_loop_longest_gap_seconds{lane="motion",loop="balance"} 0.015"#,
        #"tactus_loop_by_deadline_total{lane="motion",loop="balance"} 0"#,
        #"tactus_loop_by_input_total{lane="motion",loop="balance"} 0"#,
        #"tactus_loop_overruns_total{lane="motion",loop="balance"} 0"#,
        #"tactus_loop_oversleeps_total{lane="motion",loop="balance"} 1"#,
        #"tactus_loop_deadline_misses_total{lane="motion",loop="balance"} 0"#,
        #"tactus_loop_safe_states_total{lane="motion",loop="balance"} 0"#,
        #"tactus_loop_period_seconds{lane="motion",loop="balance"} 0.01"#,
        #"tactus_loop_release_latency_seconds_sum{lane="motion",loop="balance"} 0.005"#,
        #"tactus_loop_release_latency_seconds_count{lane="motion",loop="balance"} 100"#,
        #"tactus_loop_execution_seconds_sum{lane="motion",loop="balance"} 0.002"#,
        #"tactus_loop_execution_seconds_count{lane="motion",loop="balance"} 100"#,
      ])
    let buckets = lines.filter { $0.hasPrefix("tactus_loop_release_latency_seconds_bucket") }
    #expect(buckets.count == 25)
    #expect(
      buckets.first == #"tactus_loop_release_latency_seconds_bucket{lane="motion",loop="balance",le="1.023e-06"} 99"#)
    #expect(
      buckets[11...13].map { $0.suffix(20) }
        == [
          #"",le="0.002097151"} 99"#, #"",le="0.004194303"} 99"#, #",le="0.008388607"} 100"#,
        ].map { $0.suffix(20) })
    #expect(buckets.last == #"tactus_loop_release_latency_seconds_bucket{lane="motion",loop="balance",le="+Inf"} 100"#)
  }

  @Test("a tick that hangs: how long it runs, and how many releases are past their deadline, while it does")
  func hang() throws {
    let runtime = try Runtime {
      Lane("motion") { Loop("balance", every: .hertz(100), phase: .zero) { Still() } }
    }
    let simulation = try runtime.simulation()
    simulation.stall(loop: "balance", at: .zero + .milliseconds(500), by: .seconds(3))
    simulation.run(for: .milliseconds(2_000))
    let text = Self.text(RuntimeMetrics(runtime, version: "1.2.3"))
    for line in [
      "tactus_loop_running_seconds{lane=\"motion\",loop=\"balance\"} 1.5",
      "tactus_loop_pending{lane=\"motion\",loop=\"balance\"} 150",
      "tactus_loop_overdue{lane=\"motion\",loop=\"balance\"} 149",
      "tactus_loop_deadline_misses_total{lane=\"motion\",loop=\"balance\"} 1",
      "tactus_loop_released_total{lane=\"motion\",loop=\"balance\"} 201",
    ] {
      #expect(text.contains(line + "\n"), "\(line)")
    }
    // The outage is in the histogram with its whole length once it is over: of 401 releases 85 were later than this bound.
    simulation.run(until: .zero + .seconds(4))
    let over = Self.text(RuntimeMetrics(runtime, version: "1.2.3"))
    #expect(
      over.contains(
        #"tactus_loop_release_latency_seconds_bucket{lane="motion",loop="balance",le="2.147483647"} "#
          + "\(401 - 85)\n"))
  }

  @Test("bucket bounds: the value of the bound counts in its bucket, the next nanosecond in the following one")
  func bounds() {
    let histogram = Histogram()
    let values: [Int64] = [1_023, 1_024, 2_047, 2_048, (1 << 33) - 1, 1 << 33, 1 << 40]
    for value in values { histogram.record(value) }
    let metric = MetricHistogram(histogram.snapshot(1_023, 1 << 40))
    #expect(metric.buckets.count == 24)
    for (bound, count) in metric.buckets {
      #expect(count == UInt64(values.count { Double($0) / 1e9 <= bound }), "\(bound)")
    }
    #expect(metric.count == 7)
    #expect(metric.sum == Double(values.reduce(0, +)) / 1e9)
    #expect(metric.buckets.first?.bound == 1.023e-06)
    #expect(metric.buckets.last?.bound == 8.589934591)
  }

  @Test("a runtime that runs: its lanes say what they asked for and what is in effect")
  func lanes() throws {
    let runtime = try Runtime { Lane("motion") { Loop("balance", every: .hertz(100)) { Still() } } }
    try runtime.start()
    defer { runtime.stop() }
    let text = Self.text(RuntimeMetrics(runtime, version: "1.2.3"))
    #expect(text.contains("\ntactus_lane_realtime{lane=\"motion\",requested=\"normal\",effective=\"normal\"} 0\n"))
    #expect(text.contains("\ntactus_lane_as_requested{lane=\"motion\"} 1\n"))
  }
}

/// Does nothing.
struct Still: ControlLoop, NoOutput {
  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {}
}
