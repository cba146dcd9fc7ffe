import TestSupport
import Testing

@testable import Tactus

@Suite("Planner", .ownThread)
struct PlannerTests {
  @Test("50, 20, 10 and 1 Hz on one lane: no two loops are ever released within 1 ms of each other")
  func spread() {
    let periods: [Nanoseconds] = [.milliseconds(20), .milliseconds(50), .milliseconds(100), .seconds(1)]
    let phases = Planner.phases(periods: periods, given: [nil, nil, nil, nil])
    var releases: [Int64] = []
    for (period, phase) in zip(periods, phases) {
      releases += stride(from: phase.count, to: 2_000_000_000, by: Int(period.count))
    }
    releases.sort()
    let closest = zip(releases, releases.dropFirst()).map { $1 - $0 }.min()!
    #expect(closest >= 1_000_000)
    for (period, phase) in zip(periods, phases) { #expect((.zero..<period).contains(phase)) }
  }

  @Test("a phase that is given is kept, the others keep away from it")
  func given() {
    let phases = Planner.phases(periods: [.milliseconds(10), .milliseconds(10)], given: [.milliseconds(4), nil])
    #expect(phases == [.milliseconds(4), .milliseconds(9)])
  }

  @Test("10,000 loops: planned in no time, phases within the period")
  func many() {
    let periods = [Nanoseconds](repeating: .milliseconds(1), count: 10_000)
    let phases = Planner.phases(periods: periods, given: .init(repeating: nil, count: periods.count))
    #expect(phases.allSatisfy { (.zero..<Nanoseconds.milliseconds(1)).contains($0) })
    #expect(Set(phases).count > 9_000)
  }

  @Test("response times of a known set: blocking by the longest less urgent tick, then every more urgent one")
  func responseTimes() {
    // Non-preemptive: a waits for at most c (3), then runs 1. b: c blocks 3, a 1, itself 2; c: a and b before it starts.
    let tasks = [
      Planner.Task(name: "a", period: .milliseconds(5), executionTime: .milliseconds(1)),
      Planner.Task(name: "b", period: .milliseconds(10), executionTime: .milliseconds(2)),
      Planner.Task(name: "c", period: .milliseconds(20), executionTime: .milliseconds(3)),
    ]
    #expect(Planner.responseTimes(tasks) == [.milliseconds(4), .milliseconds(6), .milliseconds(6)])
    #expect(Planner.misses(tasks).isEmpty)
  }

  @Test("an overloaded lane: the tasks without a bound say so")
  func overload() {
    let tasks = [
      Planner.Task(name: "a", period: .milliseconds(2), executionTime: .milliseconds(1)),
      Planner.Task(name: "b", period: .milliseconds(4), executionTime: .milliseconds(3)),
    ]
    #expect(Planner.responseTimes(tasks)[1] == nil)
  }

  @Test("a lane full to the last nanosecond, whose utilisation rounds to less than 1: no bound, and the answer comes")
  func full() {
    let tenths = (0..<10).map {
      Planner.Task(name: "\($0)", period: .milliseconds(10), executionTime: .milliseconds(1))
    }
    #expect(tenths.reduce(0.0) { total, _ in total + 0.1 } < 1)
    let less = Planner.Task(name: "less urgent", period: .milliseconds(20), executionTime: .milliseconds(1))
    let times = Planner.responseTimes(tenths + [less])
    #expect(times[8] == .milliseconds(10))
    #expect(times[9] == nil && times[10] == nil)
  }

  @Test("what is not declared is analysed as measured: a tick that once took 8 ms lets its neighbour miss 5 ms")
  func measured() throws {
    let runtime = try Runtime {
      Lane("a") {
        Loop("fast", every: .hertz(200), executionTime: .milliseconds(1)) { Idle() }
        Loop("slow", every: .hertz(10)) { Idle() }
      }
    }
    let before = runtime.analysis().filter { !$0.meetsDeadline }
    #expect(before.isEmpty)
    let simulation = try runtime.simulation()
    simulation.stall(loop: "slow", at: .zero, by: .milliseconds(8))
    simulation.run(for: .seconds(1))
    let analysis = runtime.analysis()
    #expect(analysis.map(\.loop) == ["fast", "slow"])
    #expect(analysis.map(\.isMeasured) == [false, true])
    #expect(analysis[0].responseTime == .milliseconds(9) && !analysis[0].meetsDeadline)
    #expect(analysis[1].executionTime == .milliseconds(8) && analysis[1].meetsDeadline)
  }

  @Test("random sets in simulated time: no tick ever responds later than the analysis says", arguments: 1...40)
  func bound(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let count = Int.random(in: 1...5, using: &random)
    let periods = (0..<count).map { _ in
      Nanoseconds.milliseconds([1, 2, 4, 5, 8, 10, 20].randomElement(using: &random)!)
    }
    .sorted()
    let costs = periods.map {
      Nanoseconds.microseconds(Int64.random(in: 1...($0.count / 1_000 / Int64(count)), using: &random))
    }
    let bounds = Planner.responseTimes(
      zip(periods, costs).map { Planner.Task(name: "", period: $0, deadline: .seconds(1), executionTime: $1) })
    let phases = periods.map { Nanoseconds(Int64.random(in: 0..<$0.count, using: &random)) }
    let runtime = try Runtime {
      Lane("a") {
        for index in 0..<count {
          Loop(
            "\(index)", every: .period(periods[index]), phase: phases[index], late: .catchUp(limit: 1_000),
            deadline: .seconds(1), executionTime: costs[index]
          ) { Idle() }
        }
      }
    }
    let simulation = try runtime.simulation()
    simulation.run(for: .milliseconds(400))
    for index in 0..<count {
      let statistics = try #require(runtime.statistics["\(index)"])
      guard let bound = bounds[index] else { continue }
      let worst = try #require(statistics.latency.maximum) + costs[index]
      #expect(worst <= bound, "seed \(seed), loop \(index): periods \(periods), costs \(costs), phases \(phases)")
    }
  }
}
