import TestSupport
import Testing

@testable import Tactus

/// Counts releases that are not where `phase + k × period` says, and lost or repeated indices.
struct DriftCheck: ControlLoop, NoOutput {
  let period: Int64
  let phase: Int64
  let errors: UnsafeMutablePointer<Int>
  var expected: Int64 = 0

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    if tick.index != expected || tick.scheduled.nanoseconds != phase &+ expected &* period
      || tick.started.nanoseconds != tick.scheduled.nanoseconds
    {
      errors.pointee &+= 1
    }
    expected &+= 1
  }
}

@Suite("Releases in simulated time", .ownThread)
struct ReleaseTests {
  @Test("a year at 3 s and 7.000000013 s periods: not one release is off by a nanosecond")
  func drift() throws {
    let errors = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    defer { errors.deallocate() }
    errors.initialize(to: 0)
    let runtime = try Runtime {
      Lane("a") {
        Loop("three", every: .period(.seconds(3)), phase: .milliseconds(17)) {
          DriftCheck(period: 3_000_000_000, phase: 17_000_000, errors: errors)
        }
        Loop("seven", every: .period(.nanoseconds(7_000_000_013)), phase: .zero) {
          DriftCheck(period: 7_000_000_013, phase: 0, errors: errors)
        }
      }
    }
    try runtime.simulate(for: .seconds(365 * 86_400))
    #expect(errors.pointee == 0)
    let counters = try #require(runtime.statistics["three"]).counters
    #expect(counters.ran == 365 * 86_400 / 3)
    #expect(counters.skipped == 0 && counters.oversleeps == 0 && counters.overruns == 0)
  }

  @Test("a stall of 35 ms at 100 Hz: the phase is kept afterwards")
  func phaseKept() throws {
    let log = Log()
    let runtime = try Runtime {
      Lane("a") { Loop("l", every: .hertz(100), phase: .milliseconds(3)) { log.loop() } }
    }
    let simulation = try runtime.simulation()
    simulation.stall(loop: "l", at: TickInstant(nanoseconds: 20_000_000), by: .milliseconds(35))
    simulation.run(for: .milliseconds(100))
    // The tick of 23 ms ends at 58: 53 runs late, 33 and 43 are given up, 63 is in phase again.
    #expect(milliseconds(log.all) == [3, 13, 23, 58, 63, 73, 83, 93])
    #expect(log.all[3].scheduled.nanoseconds == 53_000_000)
    #expect(log.all[3].index == 5)
    #expect(log.all[3].missed == 2)
  }

  static let policies: [(LatePolicy, [Int64], [Int64], skipped: Int64)] = [
    // Releases at 0, 10, 20 …; the tick of 20 ms takes 35 ms and ends at 55 with 30, 40 and 50 due.
    (.skip, [0, 10, 20, 55, 60, 70, 80, 90], [0, 1, 2, 5, 6, 7, 8, 9], 2),
    (.catchUp(limit: 0), [0, 10, 20, 55, 60, 70, 80, 90], [0, 1, 2, 5, 6, 7, 8, 9], 2),
    (.catchUp(limit: 1), [0, 10, 20, 55, 55, 60, 70, 80, 90], [0, 1, 2, 4, 5, 6, 7, 8, 9], 1),
    (.catchUp(limit: 5), [0, 10, 20, 55, 55, 55, 60, 70, 80, 90], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 0),
    (.runLate, [0, 10, 20, 55, 60, 70, 80, 90], [0, 1, 2, 3, 6, 7, 8, 9], 2),
  ]

  @Test("35 ms of own work: each late policy runs, skips and counts exactly as it says", arguments: policies)
  func overrun(policy: LatePolicy, starts: [Int64], indices: [Int64], skipped: Int64) throws {
    let log = Log()
    let runtime = try Runtime {
      Lane("a") { Loop("l", every: .hertz(100), phase: .zero, late: policy) { log.loop() } }
    }
    let simulation = try runtime.simulation()
    simulation.stall(loop: "l", at: TickInstant(nanoseconds: 20_000_000), by: .milliseconds(35))
    simulation.run(for: .milliseconds(99))
    #expect(milliseconds(log.all) == starts)
    #expect(log.all.map(\.index) == indices)
    let counters = try #require(runtime.statistics["l"]).counters
    #expect(counters.released == 10)
    #expect(counters.ran == Int64(starts.count))
    #expect(counters.skipped == skipped)
    #expect(counters.pending == 0)
    #expect(counters.overruns == 1)
    #expect(counters.oversleeps == 0)
  }

  @Test("the kernel wakes the lane 35 ms late: the same skips, counted as oversleep", arguments: policies)
  func oversleep(policy: LatePolicy, starts: [Int64], indices: [Int64], skipped: Int64) throws {
    let log = Log()
    let runtime = try Runtime {
      Lane("a") { Loop("l", every: .hertz(100), phase: .zero, late: policy) { log.loop() } }
    }
    let simulation = try runtime.simulation()
    simulation.oversleep(lane: "a", at: TickInstant(nanoseconds: 15_000_000), by: .milliseconds(35))
    simulation.run(for: .milliseconds(99))
    let counters = try #require(runtime.statistics["l"]).counters
    // Woken at 55 for the release of 20: 20, 30, 40 and 50 are due.
    #expect(counters.released == 10)
    #expect(counters.ran + counters.skipped == 10)
    #expect(counters.overruns == 0)
    if case .catchUp(limit: 1...) = policy {
      #expect(counters.oversleeps >= 2)
    } else {
      #expect(counters.oversleeps == 1)
    }
    #expect(log.all.contains { $0.started.nanoseconds == 55_000_000 })
    #expect(!log.all.contains { (20_000_000..<55_000_000).contains($0.started.nanoseconds) })
  }

  @Test("catching up: while releases wait, they are pending, and the sum holds at every instant")
  func pending() throws {
    let runtime = try Runtime {
      Lane("a") { Loop("l", every: .hertz(100), phase: .zero, late: .catchUp(limit: 10)) { Idle() } }
    }
    let simulation = try runtime.simulation()
    simulation.stall(loop: "l", at: TickInstant(nanoseconds: 10_000_000), by: .milliseconds(35))
    simulation.stall(loop: "l", at: TickInstant(nanoseconds: 40_000_000), by: .milliseconds(1))
    var sawPending = false
    for millisecond in 0..<100 {
      simulation.run(until: TickInstant(nanoseconds: Int64(millisecond) * 1_000_000))
      let counters = try #require(runtime.statistics["l"]).counters
      #expect(counters.released == counters.ran + counters.skipped + counters.pending)
      sawPending = sawPending || counters.pending > 0
    }
    #expect(sawPending)
  }

  @Test("a loop twice as slow as its period under runLate: it rests between late ticks, the lane stays usable")
  func runLateRests() throws {
    let log = Log()
    let other = Log()
    let runtime = try Runtime {
      Lane("a") {
        Loop("slow", every: .hertz(100), phase: .zero, late: .runLate) { log.loop() }
        Loop("other", every: .hertz(1), phase: .milliseconds(500)) { other.loop() }
      }
    }
    let simulation = try runtime.simulation()
    for k in 0..<200 {
      simulation.stall(loop: "slow", at: TickInstant(nanoseconds: Int64(k) * 10_000_000), by: .milliseconds(12))
    }
    simulation.run(for: .milliseconds(200))
    // 0–12 on time; 10 runs late 12–24 and 20 is given up; 30 on time again.
    #expect(milliseconds(Array(log.all.prefix(4))) == [0, 12, 30, 42])
  }
}
