import CBench
import Dispatch
import Glibc
import Tactus

/// release lane|lane-held|lane-unheld RATE SECONDS OUT FIFO CPU | release dispatch|task RATE SECONDS OUT: how late periodic work begins.
///
/// All three take the same sample (a clock read at the start of the work, minus the instant it was due) and treat a
/// missed period as cyclictest does: the next due instant is the first one after now. For the lane OUT.woken gets the
/// lateness that the runtime itself reports, from its first clock read after waking.
enum Release {
  static func run(_ arguments: Arguments) async throws {
    let rate = arguments.int(1)
    let seconds = arguments.int(2)
    let samples = Samples(capacity: rate * seconds)
    switch arguments.word(0) {
    case "lane", "lane-held", "lane-unheld":
      let lane = (priority: arguments.int(4), cpu: arguments.int(5))
      let woken = Samples(capacity: rate * seconds)
      try runLane(
        rate: rate, seconds: seconds, lane.priority, lane.cpu, wakeUpLatency(arguments), samples, woken)
      woken.write(to: arguments.word(3) + ".woken")
    case "dispatch": runDispatch(rate: rate, seconds: seconds, samples)
    case "task": try await runTask(rate: rate, seconds: seconds, samples)
    default: arguments.fail()
    }
    samples.write(to: arguments.word(3))
  }

  /// `lane` takes the runtime's default, which does not insist; the others say which they mean.
  private static func wakeUpLatency(_ arguments: Arguments) -> WakeUpLatency? {
    switch arguments.word(0) {
    case "lane-held": .held(.zero)
    case "lane-unheld": .asTheKernelLikes
    default: nil
    }
  }

  private struct Sampling: ControlLoop, NoOutput {
    let samples: Samples
    let woken: Samples

    @_noLocks @_noAllocation
    mutating func tick(_ tick: Tick) {
      samples.append(bench_now() &- tick.scheduled.nanoseconds)
      woken.append(tick.lateness.count)
    }
  }

  private static func runLane(
    rate: Int, seconds: Int, _ priority: Int, _ cpu: Int, _ wakeUpLatency: WakeUpLatency?, _ samples: Samples,
    _ woken: Samples
  ) throws {
    let runtime = try Runtime(strict: true, wakeUpLatency: wakeUpLatency) {
      Lane("bench", scheduling: .fifo(priority), cpu: cpu) {
        Loop("sampling", every: .hertz(Double(rate))) { Sampling(samples: samples, woken: woken) }
      }
    }
    try runtime.start()
    wait(seconds: Double(seconds) + 0.05)
    runtime.stop()
    let counters = runtime.statistics["sampling"]!.counters
    print("{\"released\": \(counters.released), \"ran\": \(counters.ran), \"skipped\": \(counters.skipped)}")
  }

  private static func runDispatch(rate: Int, seconds: Int, _ samples: Samples) {
    let period = Int64(1_000_000_000 / rate)
    let queue = DispatchQueue(label: "bench.timer")
    let timer = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
    nonisolated(unsafe) var next = bench_now() + 10_000_000
    timer.setEventHandler { sample(&next, period, samples) }
    timer.schedule(
      deadline: DispatchTime(uptimeNanoseconds: UInt64(next)), repeating: .nanoseconds(Int(period)),
      leeway: .nanoseconds(0))
    timer.resume()
    wait(seconds: Double(seconds) + 0.05)
    timer.cancel()
    queue.sync {}
  }

  private static func runTask(rate: Int, seconds: Int, _ samples: Samples) async throws {
    let period = Int64(1_000_000_000 / rate)
    let clock = ContinuousClock()
    let origin = clock.now
    let epoch = bench_now()
    var next = epoch + 10_000_000
    let end = next + Int64(seconds) * 1_000_000_000
    while next < end {
      try await Task.sleep(until: origin + .nanoseconds(next - epoch), tolerance: .zero, clock: clock)
      sample(&next, period, samples)
    }
  }

  private static func sample(_ next: inout Int64, _ period: Int64, _ samples: Samples) {
    let now = bench_now()
    samples.append(now - next)
    repeat { next += period } while next < now
  }

  private static func wait(seconds: Double) {
    _ = DispatchSemaphore(value: 0).wait(timeout: .now() + seconds)
  }
}
