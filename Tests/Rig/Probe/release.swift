import CTactus
import Tactus

/// `rig-probe --release RATE COUNT PRIORITY`: how late the ticks of one loop on one FIFO lane begin.
///
/// Prints one line for each release: the instant at which the tick's body begins, by a clock read of its own, minus the instant
/// at which the release was due, in nanoseconds. Throws if a release was given up, since its lateness would be missing.
func printReleaseLatencies(rate: Double, count: Int, priority: Int) throws {
  let latencies = UnsafeMutableBufferPointer<Int64>.allocate(capacity: count)
  latencies.initialize(repeating: 0)
  let isDone = try Doorbell()
  let runtime = try Runtime(strict: true) {
    Lane("rig", scheduling: .fifo(priority)) {
      Loop("release", every: .hertz(rate)) { ReleaseTimer(latencies: latencies, isDone: isDone.button) }
    }
  }
  try runtime.start()
  isDone.wait()
  runtime.stop()
  let counters = runtime.statistics["release"]!.counters
  guard counters.skipped == 0 else {
    throw Unexpected(text: "\(counters.skipped) of \(counters.released) releases were given up")
  }
  for latency in latencies { print(latency) }
}

private struct ReleaseTimer: ControlLoop, NoOutput {
  let latencies: UnsafeMutableBufferPointer<Int64>
  let isDone: DoorbellButton
  var taken = 0

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    let now = tactus_monotonic_now()
    guard taken < latencies.count else { return }
    latencies[taken] = now &- tick.scheduled.nanoseconds
    taken &+= 1
    if taken == latencies.count { isDone.ring() }
  }
}
