import Testing

@testable import Tactus

/// Does nothing.
struct Idle: ControlLoop {
  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {}
}

/// Writes every tick it gets, and every safe state, into memory that the test reads afterwards.
final class Log {
  let ticks = UnsafeMutablePointer<Tick>.allocate(capacity: 100_000)
  let safeStates = UnsafeMutablePointer<SafeStateCause>.allocate(capacity: 1_000)
  let counts = UnsafeMutablePointer<(ticks: Int, safeStates: Int)>.allocate(capacity: 1)

  init() { counts.initialize(to: (0, 0)) }

  deinit {
    ticks.deallocate()
    safeStates.deallocate()
    counts.deallocate()
  }

  var all: [Tick] { (0..<counts.pointee.ticks).map { ticks[$0] } }
  var safe: [SafeStateCause] { (0..<counts.pointee.safeStates).map { safeStates[$0] } }

  func loop(deadlines: [Int64] = []) -> Logged {
    Logged(ticks: ticks, safeStates: safeStates, counts: counts, deadlines: deadlines)
  }
}

struct Logged: ControlLoop {
  let ticks: UnsafeMutablePointer<Tick>
  let safeStates: UnsafeMutablePointer<SafeStateCause>
  let counts: UnsafeMutablePointer<(ticks: Int, safeStates: Int)>
  /// Deadlines in nanoseconds, ascending; the first one that has not passed is asked for.
  let deadlines: [Int64]
  var now = TickInstant.zero

  init(
    ticks: UnsafeMutablePointer<Tick>, safeStates: UnsafeMutablePointer<SafeStateCause>,
    counts: UnsafeMutablePointer<(ticks: Int, safeStates: Int)>, deadlines: [Int64]
  ) {
    self.ticks = ticks
    self.safeStates = safeStates
    self.counts = counts
    self.deadlines = deadlines
  }

  mutating func tick(_ tick: Tick) {
    now = tick.started
    guard counts.pointee.ticks < 100_000 else { return }
    ticks[counts.pointee.ticks] = tick
    counts.pointee.ticks += 1
  }

  var nextDeadline: TickInstant? {
    deadlines.first { $0 > now.nanoseconds }.map(TickInstant.init(nanoseconds:))
  }

  mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    safeStates[counts.pointee.safeStates] = cause
    counts.pointee.safeStates += 1
  }
}

func milliseconds(_ ticks: [Tick]) -> [Int64] { ticks.map { $0.started.nanoseconds / 1_000_000 } }

/// Counts releases that are not where `phase + k × period` says, and lost or repeated indices.
struct DriftCheck: ControlLoop {
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

@Suite("Releases in simulated time")
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

@Suite("Deadlines, inputs and safe states in simulated time")
struct WakingTests {
  @Test("a deadline between two releases: the loop runs at that nanosecond, the periodic releases stay")
  func deadline() throws {
    let log = Log()
    let runtime = try Runtime {
      Lane("a") { Loop("l", every: .hertz(20), phase: .zero) { log.loop(deadlines: [123_456_789, 150_000_000]) } }
    }
    try runtime.simulate(for: .milliseconds(200))
    #expect(log.all.map(\.started.nanoseconds) == [0, 50_000_000, 100_000_000, 123_456_789, 150_000_000, 200_000_000])
    #expect(log.all[3].cause == .deadline)
    #expect(log.all[3].lateness == .zero)
    // Both at once is one tick, and the periodic one.
    #expect(log.all[4].cause == .period && log.all[4].index == 3)
    let counters = try #require(runtime.statistics["l"]).counters
    #expect(counters.byDeadline == 1 && counters.ran == 5)
  }

  @Test("an input: the loop runs when it arrives, at most once a minimum interval, the periodic releases stay")
  func input() throws {
    let log = Log()
    let input = SimulatedInput()
    let runtime = try Runtime {
      Lane("a") {
        Loop("l", every: .hertz(10), phase: .zero, input: .simulated(input), minimumInterval: .milliseconds(5)) {
          log.loop()
        }
      }
    }
    let simulation = try runtime.simulation()
    simulation.run(until: TickInstant(nanoseconds: 20_000_000))
    for arrival in [30, 31, 37] {
      input.readyAt.pointee = TickInstant(nanoseconds: Int64(arrival) * 1_000_000)
      simulation.run(until: TickInstant(nanoseconds: Int64(arrival) * 1_000_000))
      input.readyAt.pointee = .distantFuture
    }
    input.readyAt.pointee = TickInstant(nanoseconds: 41_000_000)
    simulation.run(until: TickInstant(nanoseconds: 42_000_000))
    input.readyAt.pointee = .distantFuture
    simulation.run(until: TickInstant(nanoseconds: 250_000_000))
    #expect(milliseconds(log.all) == [0, 30, 37, 42, 100, 200])
    #expect(log.all.map(\.cause) == [.period, .input, .input, .input, .period, .period])
    #expect(try #require(runtime.statistics["l"]).counters.byInput == 3)
  }

  @Test("a machine that asks for a deadline in the past: released once a minimum interval, not for ever")
  func staleDeadline() throws {
    struct Stale: ControlLoop {
      mutating func tick(_ tick: Tick) {}
      var nextDeadline: TickInstant? { .zero }
    }
    let runtime = try Runtime {
      Lane("a") { Loop("l", every: .hertz(10), phase: .zero, minimumInterval: .milliseconds(10)) { Stale() } }
    }
    try runtime.simulate(for: .milliseconds(99))
    #expect(try #require(runtime.statistics["l"]).counters.byDeadline == 9)
  }

  @Test("three consecutive misses: the safe state is entered once, before the next tick, and again only after recovery")
  func safeState() throws {
    let log = Log()
    let runtime = try Runtime {
      Lane("a") { Loop("l", every: .hertz(100), phase: .zero, safeStateAfter: 3) { log.loop() } }
    }
    let simulation = try runtime.simulation()
    simulation.stall(loop: "l", at: TickInstant(nanoseconds: 20_000_000), by: .milliseconds(25))
    simulation.run(until: TickInstant(nanoseconds: 199_000_000))
    // The tick itself missed its deadline (1), 30 was given up (2): not enough.
    #expect(log.safe.isEmpty)
    simulation.stall(loop: "l", at: TickInstant(nanoseconds: 200_000_000), by: .milliseconds(35))
    simulation.run(until: TickInstant(nanoseconds: 399_000_000))
    #expect(log.safe.count == 1)
    simulation.stall(loop: "l", at: TickInstant(nanoseconds: 400_000_000), by: .milliseconds(95))
    simulation.run(until: TickInstant(nanoseconds: 599_000_000))
    #expect(log.safe.count == 2)
    simulation.stop()
    #expect(log.safe.count == 3)
    guard case .stop = log.safe[2] else { return #expect(Bool(false), "stopping is a cause of its own") }
    #expect(try #require(runtime.statistics["l"]).counters.safeStates == 2)
  }

  @Test("same seed: same trace; another disturbance: another trace")
  func trace() throws {
    func run(_ seed: UInt64, extra: Int64) throws -> UInt64 {
      let runtime = try Runtime {
        Lane("a") {
          Loop("x", every: .hertz(1000), executionTime: .microseconds(40)) { Idle() }
          Loop("y", every: .hertz(333), executionTime: .microseconds(90)) { Idle() }
        }
        Lane("b") { Loop("z", every: .hertz(50), late: .catchUp(limit: 2)) { Idle() } }
      }
      let simulation = try runtime.simulation(seed: seed)
      for _ in 0..<100 {
        let at = TickInstant(nanoseconds: Int64.random(in: 0..<5_000_000_000, using: &simulation.random))
        simulation.stall(loop: ["x", "y", "z"].randomElement(using: &simulation.random)!, at: at, by: .milliseconds(3))
        simulation.oversleep(lane: "b", at: at, by: .nanoseconds(35_000_000 + extra))
      }
      simulation.run(for: .seconds(5))
      return simulation.traceHash
    }
    #expect(try run(7, extra: 0) == run(7, extra: 0))
    #expect(try run(7, extra: 0) != run(8, extra: 0))
    #expect(try run(7, extra: 0) != run(7, extra: 1))
  }
}

/// A loop whose output is on while its deadman is fed; it is fed once, at the first tick.
struct Pulse: ControlLoop {
  let offAt: UnsafeMutablePointer<Int64>
  var deadman = Deadman(timeout: .milliseconds(200))
  var isOn = false

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    if case .period = tick.cause, tick.index == 0 {
      deadman.feed(at: tick.started)
      isOn = true
    }
    if isOn, deadman.hasExpired(at: tick.started) {
      offAt.pointee = tick.started.nanoseconds
      isOn = false
      deadman.disarm()
    }
  }

  var nextDeadline: TickInstant? { deadman.expiresAt }
}

@Suite("Deadman")
struct DeadmanTests {
  @Test("fed once at 13 ms, period 70 ms, time-out 200 ms: off at 213 ms to the nanosecond")
  func exact() throws {
    let offAt = UnsafeMutablePointer<Int64>.allocate(capacity: 1)
    defer { offAt.deallocate() }
    offAt.initialize(to: 0)
    let runtime = try Runtime {
      Lane("a") { Loop("l", every: .period(.milliseconds(70)), phase: .milliseconds(13)) { Pulse(offAt: offAt) } }
    }
    try runtime.simulate(for: .seconds(1))
    #expect(offAt.pointee == 213_000_000)
  }

  @Test("the edge: one nanosecond before the time-out it has not expired, at it it has; disarmed it never does")
  func edge() {
    var deadman = Deadman(timeout: .seconds(1))
    #expect(!deadman.hasExpired(at: .distantFuture) && deadman.expiresAt == nil)
    deadman.feed(at: TickInstant(nanoseconds: 5))
    #expect(!deadman.hasExpired(at: TickInstant(nanoseconds: 1_000_000_004)))
    #expect(deadman.hasExpired(at: TickInstant(nanoseconds: 1_000_000_005)))
    deadman.disarm()
    #expect(!deadman.hasExpired(at: .distantFuture))
  }
}

@Suite("Changing rates")
struct ChangeTests {
  @Test("a new rate: the next release is one new period after the last, nothing is missed")
  func rate() throws {
    let log = Log()
    let runtime = try Runtime { Lane("a") { Loop("l", every: .hertz(10), phase: .zero) { log.loop() } } }
    let simulation = try runtime.simulation()
    simulation.run(until: TickInstant(nanoseconds: 210_000_000))
    try runtime.setRates(["l": .hertz(50)])
    simulation.run(until: TickInstant(nanoseconds: 270_000_000))
    try runtime.setRates(["l": .hertz(5)])
    simulation.run(until: TickInstant(nanoseconds: 700_000_000))
    #expect(milliseconds(log.all) == [0, 100, 200, 220, 240, 260, 460, 660])
    let counters = try #require(runtime.statistics["l"]).counters
    #expect(counters.skipped == 0 && counters.ran == 8 && counters.released == 8)
  }

  @Test("one change of several is impossible: none is made")
  func allOrNothing() throws {
    let runtime = try Runtime {
      Lane("a") { Loop("l", every: .hertz(10), executionTime: .milliseconds(10)) { Idle() } }
      Lane("b") { Loop("m", every: .hertz(10)) { Idle() } }
    }
    #expect(throws: RuntimeError.self) { try runtime.setRates(["m": .hertz(20), "l": .hertz(200)]) }
    #expect(throws: RuntimeError.unknownLoop("n")) { try runtime.setRates(["m": .hertz(20), "n": .hertz(1)]) }
    #expect(runtime.statistics["m"]?.period == .milliseconds(100))
  }
}

@Suite("Declarations")
struct DeclarationTests {
  @Test("contradictions are refused by name before anything runs")
  func contradictions() {
    #expect(throws: RuntimeError.nothingToRun) { try Runtime {} }
    #expect(throws: RuntimeError.noLoops(lane: "a")) { try Runtime { Lane("a") {} } }
    #expect(throws: RuntimeError.duplicateLoop("l")) {
      try Runtime {
        Lane("a") { Loop("l", every: .hertz(1)) { Idle() } }
        Lane("b") { Loop("l", every: .hertz(1)) { Idle() } }
      }
    }
    #expect(throws: RuntimeError.invalidScheduling(lane: "a", reason: "a FIFO priority is 1…99, got 100")) {
      try Runtime { Lane("a", scheduling: .fifo(100)) { Loop("l", every: .hertz(1)) { Idle() } } }
    }
  }

  @Test("a set that cannot meet its deadlines is refused with the response time found")
  func infeasible() throws {
    let error = #expect(throws: RuntimeError.self) {
      try Runtime {
        Lane("a") {
          Loop("fast", every: .hertz(1000), executionTime: .microseconds(300)) { Idle() }
          Loop("slow", every: .hertz(1), executionTime: .milliseconds(1)) { Idle() }
        }
      }
    }
    #expect(
      error?.description
        == "lane \"a\" cannot meet its deadlines: loop \"fast\" responds within 1.3 ms, its deadline is 1 ms")
  }
}
