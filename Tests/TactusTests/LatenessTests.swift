import TestSupport
import Testing

@testable import Tactus

/// One loop alone on a lane, release by release, with nothing of the scheduler's arithmetic: what every release's lateness
/// must be, whatever became of it.
private struct ReleaseModel {
  let period: Int64
  let policy: LatePolicy
  let tolerance: Int64
  let execution: Int64
  /// Taken in this order, each once: the next wake-up, or the next tick, at or after `from` is `by` longer.
  var oversleeps: [(from: Int64, by: Int64)]
  var stalls: [(from: Int64, by: Int64)]

  private(set) var lateness: [Int64] = []
  private(set) var starts: [Int64] = []
  private(set) var ran = 0
  private(set) var skipped = 0

  init(
    period: Int64, policy: LatePolicy, execution: Int64, oversleeps: [(from: Int64, by: Int64)],
    stalls: [(from: Int64, by: Int64)]
  ) {
    self.period = period
    self.policy = policy
    tolerance = period / 10
    self.execution = execution
    self.oversleeps = oversleeps
    self.stalls = stalls
  }

  private func taking(_ list: inout [(from: Int64, by: Int64)], at instant: Int64) -> Int64 {
    guard let index = list.firstIndex(where: { $0.from <= instant }) else { return 0 }
    return list.remove(at: index).by
  }

  /// Up to and including `end`; what happens at the end of a tick that ends later does not happen.
  mutating func run(until end: Int64) {
    var waiting: [Int64] = []
    var next: Int64 = 0
    var now: Int64 = 0
    while true {
      if waiting.isEmpty, next > now {
        now = next
        now += taking(&oversleeps, at: now)
      }
      while next <= now {
        waiting.append(next)
        next += period
      }
      guard now <= end else { return }
      var kept = waiting.count
      switch policy {
      case .skip: kept = 1
      case .catchUp(let limit): kept = min(kept, Int(limit) + 1)
      case .runLate: break
      }
      giveUp(waiting.count - kept, of: &waiting, at: now)
      let release = waiting.removeFirst()
      lateness.append(now - release)
      starts.append(now)
      ran += 1
      let isLate = now - release > tolerance
      now += execution + taking(&stalls, at: now)
      guard now <= end else { return }
      while next <= now {
        waiting.append(next)
        next += period
      }
      if case .runLate = policy, isLate { giveUp(waiting.count, of: &waiting, at: now) }
    }
  }

  private mutating func giveUp(_ count: Int, of waiting: inout [Int64], at now: Int64) {
    for release in waiting.prefix(count) { lateness.append(now - release) }
    waiting.removeFirst(count)
    skipped += count
  }

  var longestGap: Int64? { zip(starts, starts.dropFirst()).map { $1 - $0 }.max() }
}

@Suite("Lateness of every release", .ownThread)
struct LatenessTests {
  static let policies: [LatePolicy] = [.skip, .catchUp(limit: 0), .catchUp(limit: 1), .catchUp(limit: 5), .runLate]

  @Test("stalls and late wake-ups: histogram, extremes, counts and gap are those of a model that knows no arithmetic")
  func model() throws {
    for seed in UInt64(1)...40 {
      for policy in Self.policies {
        var random = SplitMix64(seed: seed)
        let period = Int64(random.below(9_000_000)) + 1_000_000
        let execution = random.below(3) == 0 ? 0 : Int64(random.below(UInt64(period * 9 / 10)))
        let horizon = period * 400 + Int64(random.below(UInt64(period)))
        func disturbances() -> [(from: Int64, by: Int64)] {
          (0..<random.below(8)).map { _ in
            (Int64(random.below(UInt64(horizon))), Int64(random.below(UInt64(period * 60))))
          }.sorted { $0.from < $1.from }
        }
        let (oversleeps, stalls) = (disturbances(), disturbances())
        var model = ReleaseModel(
          period: period, policy: policy, execution: execution, oversleeps: oversleeps, stalls: stalls)
        model.run(until: horizon)

        let runtime = try Runtime {
          Lane("a") {
            Loop(
              "l", every: .period(.nanoseconds(period)), phase: .zero, late: policy,
              deadline: .seconds(1_000_000), executionTime: .nanoseconds(execution)
            ) { Idle() }
          }
        }
        let simulation = try runtime.simulation(seed: seed)
        for (from, by) in oversleeps {
          simulation.oversleep(lane: "a", at: TickInstant(nanoseconds: from), by: .nanoseconds(by))
        }
        for (from, by) in stalls {
          simulation.stall(loop: "l", at: TickInstant(nanoseconds: from), by: .nanoseconds(by))
        }
        simulation.run(until: TickInstant(nanoseconds: horizon))

        let found = try #require(runtime.statistics["l"])
        let at = "seed \(seed), \(policy)"
        var counts = [UInt64](repeating: 0, count: Histogram.bucketCount)
        for value in model.lateness { counts[histogramBucket(value)] += 1 }
        #expect(found.latency.counts == counts, "\(at)")
        #expect(found.latency.maximum?.count == model.lateness.max(), "\(at)")
        #expect(found.latency.minimum?.count == model.lateness.min(), "\(at)")
        #expect(found.latency.sum.count == model.lateness.reduce(0, +), "\(at)")
        #expect(found.counters.ran == Int64(model.ran) && found.counters.skipped == Int64(model.skipped), "\(at)")
        #expect(found.counters.released == horizon / period + 1, "\(at)")
        #expect(found.longestGap?.length.count == model.longestGap, "\(at)")
      }
    }
  }

  @Test("releases by period, deadline and input: each has one lateness, at every instant")
  func invariant() throws {
    for seed in UInt64(1)...10 {
      for policy in Self.policies {
        var random = SplitMix64(seed: seed)
        let log = Log()
        let input = SimulatedInput()
        let deadlines = (0..<40).map { _ in Int64(random.below(1_000_000_000)) }.sorted()
        let runtime = try Runtime {
          Lane("a") {
            Loop("l", every: .hertz(100), phase: .zero, late: policy, inputs: [.simulated(input)]) {
              log.loop(deadlines: deadlines)
            }
            Loop("other", every: .hertz(30), late: policy) { Idle() }
          }
        }
        let simulation = try runtime.simulation(seed: seed)
        for step in Int64(1)...100 {
          let start = TickInstant(nanoseconds: step * 10_000_000)
          if random.below(4) == 0 { input.ring(at: start) } else { input.readyAt.pointee = .distantFuture }
          if random.below(6) == 0 {
            let length = Nanoseconds.nanoseconds(Int64(random.below(60_000_000)))
            simulation.stall(loop: random.below(2) == 0 ? "l" : "other", at: start, by: length)
          }
          simulation.run(until: start + .nanoseconds(Int64(random.below(9_000_000))))
          for loop in runtime.statistics.loops {
            let counters = loop.counters
            let sum = counters.ran + counters.skipped + counters.byDeadline + counters.byInput
            #expect(loop.latency.count == UInt64(sum), "seed \(seed), \(policy), step \(step)")
            #expect(counters.released == counters.ran + counters.skipped + counters.pending)
            let running: UInt64 = loop.running == nil ? 0 : 1
            #expect(loop.execution.count + running + UInt64(counters.skipped) == UInt64(sum), "seed \(seed), \(policy)")
          }
        }
      }
    }
  }

  @Test("an outage of 300 ms at 1 kHz: a maximum of 300 ms, 300 entries down from there, the gap with its instant")
  func outage() throws {
    let runtime = try Runtime { Lane("a") { Loop("l", every: .hertz(1000), phase: .zero) { Idle() } } }
    let simulation = try runtime.simulation()
    simulation.oversleep(lane: "a", at: TickInstant(nanoseconds: 1_000_500_000), by: .milliseconds(300))
    simulation.run(for: .seconds(2))
    let loop = try #require(runtime.statistics["l"])
    #expect(loop.latency.maximum == .milliseconds(300))
    #expect(loop.counters.skipped == 300)
    // One at each millisecond from 300 down to 1; the one that ran at once is on time.
    #expect(loop.latency.sum == .milliseconds(300 * 301 / 2))
    #expect(loop.longestGap == TickGap(length: .milliseconds(301), since: TickInstant(nanoseconds: 1_000_000_000)))
    // Of 2,001 releases 15 % are late: the 86th percentile is near the start of the outage's end.
    #expect(try #require(loop.latency.percentile(0.84)) == .zero)
    let late = try #require(loop.latency.percentile(0.925))
    #expect((.milliseconds(140)...Nanoseconds.milliseconds(160)).contains(late))
  }

  @Test("an hour's stop at 10 kHz: 36 million releases are recorded in no more steps than there are buckets")
  func hour() throws {
    let runtime = try Runtime { Lane("a") { Loop("l", every: .hertz(10_000), phase: .zero) { Idle() } } }
    let simulation = try runtime.simulation()
    simulation.oversleep(lane: "a", at: TickInstant(nanoseconds: 1_000_000), by: .seconds(3600))
    simulation.run(until: TickInstant(nanoseconds: 3_600_002_000_000))
    let loop = try #require(runtime.statistics["l"])
    #expect(loop.latency.maximum == .seconds(3600))
    #expect(loop.counters.skipped == 36_000_000)
    #expect(loop.latency.count == UInt64(loop.counters.ran + loop.counters.skipped))
    let half = try #require(loop.latency.percentile(0.5))
    #expect((.seconds(1_680)...Nanoseconds.seconds(1_920)).contains(half))
    // 36 million releases, half an hour each: more than 292 years together.
    #expect(loop.latency.sum == .nanoseconds(.max))
  }

  @Test("a series in one record is the same as its values one by one")
  func series() {
    for seed in UInt64(1)...300 {
      var random = SplitMix64(seed: seed)
      let step = Int64(1) << Int64(random.below(24)) + Int64(random.below(1000))
      let count = Int64(random.below(2_000))
      let smallest = Int64(random.below(UInt64(step)))
      let one = Histogram()
      let all = Histogram()
      one.record(seriesFrom: smallest + (count - 1) * step, step: step, count: count)
      for number in 0..<count { all.record(smallest + number * step) }
      #expect(one.snapshot(0, 1) == all.snapshot(0, 1), "seed \(seed)")
    }
  }

  @Test("a series that goes below 0 ends, and is the same as its values one by one: negative ones count as 0")
  func negativeSeries() {
    for largest in [Int64(-25), -10, -1, 0, 1, 9, 10, 25, 1_000] {
      let one = Histogram()
      let all = Histogram()
      one.record(seriesFrom: largest, step: 10, count: 20)
      for number in Int64(0)..<20 { all.record(largest - number * 10) }
      #expect(one.snapshot(0, 1) == all.snapshot(0, 1), "\(largest)")
    }
  }

  @Test("buckets: each value lies within the bounds of its own, and none of the bounds leaves a hole")
  func buckets() {
    for index in 1..<Histogram.bucketCount {
      let bounds = HistogramSnapshot.bounds(ofBucket: index)
      #expect(bounds.lowerBound == HistogramSnapshot.bounds(ofBucket: index - 1).upperBound)
      #expect(histogramBucket(bounds.lowerBound) == index && histogramBucket(bounds.upperBound - 1) == index)
    }
    #expect(histogramBucket(1 << 45) == Histogram.bucketCount - 1 && histogramBucket(.max) == Histogram.bucketCount - 1)
  }
}
