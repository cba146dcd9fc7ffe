import TestSupport
import Testing

@testable import Tactus

private func instant(_ milliseconds: Int64) -> TickInstant { TickInstant(nanoseconds: milliseconds * 1_000_000) }

@Suite("Accounts at the edges", .ownThread)
struct AccountTests {
  @Test(
    "runLate: the releases given up after a late tick count toward the safe state, which comes before the next tick")
  func runLateSafeState() throws {
    let log = Log()
    let runtime = try Runtime {
      Lane("a") {
        Loop("l", every: .hertz(100), phase: .zero, late: .runLate, safeStateAfter: 4) { log.loop() }
      }
    }
    let simulation = try runtime.simulation()
    simulation.stall(loop: "l", at: instant(20), by: .milliseconds(25))
    simulation.run(until: instant(49))
    // 20 ended late (1); 30 ran late, ended at 45 (2); 40 was given up (3): not enough.
    #expect(milliseconds(log.all) == [0, 10, 20, 45] && log.safe.isEmpty)
    simulation.run(until: instant(99))
    simulation.stall(loop: "l", at: instant(100), by: .milliseconds(35))
    simulation.run(until: instant(139))
    // 100 ended late (1); 110 ran late (2); 120 and 130 were given up (4).
    #expect(log.all.last?.started == instant(135) && log.all.last?.scheduled == instant(110))
    guard case .misses(4) = log.safe.first else { return #expect(Bool(false), "no safe state: \(log.safe)") }
    #expect(log.safe.count == 1)
  }

  @Test("misses with no whole release between them add up; as many again lead into the safe state again, fewer do not")
  func missesAddUp() throws {
    let log = Log()
    let runtime = try Runtime {
      Lane("a") { Loop("l", every: .hertz(100), phase: .zero, safeStateAfter: 3) { log.loop() } }
    }
    let simulation = try runtime.simulation()
    // 20 and 30 are given up, 40 runs on time; then 50.
    simulation.oversleep(lane: "a", at: instant(15), by: .milliseconds(20))
    simulation.run(until: instant(45))
    #expect(log.safe.isEmpty)
    simulation.oversleep(lane: "a", at: instant(46), by: .milliseconds(11))
    simulation.run(until: instant(69))
    guard case .misses(3) = log.safe.first else { return #expect(Bool(false), "no safe state: \(log.safe)") }
    simulation.stall(loop: "l", at: instant(70), by: .milliseconds(15))
    simulation.run(until: instant(139))
    #expect(log.safe.count == 1 && runtime.statistics["l"]?.counters.safeStates == 1)
    simulation.stall(loop: "l", at: instant(140), by: .milliseconds(35))
    simulation.run(until: instant(199))
    #expect(log.safe.count == 2)
  }

  @Test(
    "a hang that begins as soon as the last one has ended leads into the safe state again: a tick between may have left it"
  )
  func hangAfterHang() throws {
    let log = Log()
    let runtime = try Runtime {
      Lane("a") { Loop("l", every: .hertz(10), phase: .zero, safeStateAfter: 3) { log.loop() } }
    }
    let simulation = try runtime.simulation()
    // It ends at 550; the next release, at 600, hangs again, and so does the one at 1,200.
    for start: Int64 in [100, 600, 1_200] { simulation.stall(loop: "l", at: instant(start), by: .milliseconds(450)) }
    simulation.run(until: instant(2_000))
    #expect(log.safe.count == 3, "\(log.safe)")
  }

  @Test("simulated hardware: no lateness of the machine leads into the safe state, a stall that was asked for does")
  func injectedMisses() throws {
    for seed in UInt64(1)...50 {
      var random = SplitMix64(seed: seed)
      let (real, simulated, injected, stall) = (Log(), Log(), Log(), LaneStall())
      let runtime = try Runtime {
        Lane("real") { Loop("real", every: .hertz(100), phase: .zero, safeStateAfter: 3) { real.loop() } }
        Lane("simulated") {
          Loop("simulated", every: .hertz(100), phase: .zero, safeStateAfter: 3, counting: .injected(nil)) {
            simulated.loop()
          }
        }
        Lane("injected") {
          Loop("injected", every: .hertz(100), phase: .zero, safeStateAfter: 3, counting: .injected(stall.served)) {
            injected.loop()
          }
        }
      }
      let simulation = try runtime.simulation(seed: seed)
      // Each lane alike: woken late, and ticks that take long.
      var at: Int64 = 0
      for _ in 0..<20 {
        at += 200
        let late = Nanoseconds.milliseconds(Int64(random.below(150)))
        for name in ["real", "simulated", "injected"] {
          if random.below(2) == 0 {
            simulation.oversleep(lane: name, at: instant(at), by: late)
          } else {
            simulation.stall(loop: name, at: instant(at), by: late)
          }
        }
        simulation.run(until: instant(at + 199))
      }
      #expect(!real.safe.isEmpty, "seed \(seed)")
      #expect(simulated.safe.isEmpty && injected.safe.isEmpty, "seed \(seed)")
      // What was asked for: the tick that serves it ends late, and two releases are given up.
      stall.ask(for: .milliseconds(35))
      stall.served.serve(at: instant(at + 200))
      simulation.stall(loop: "injected", at: instant(at + 200), by: .milliseconds(35))
      simulation.stall(loop: "simulated", at: instant(at + 200), by: .milliseconds(35))
      simulation.run(until: instant(at + 299))
      #expect(injected.safe.count == 1 && simulated.safe.isEmpty, "seed \(seed)")
      // Load after it is nobody's injection.
      simulation.oversleep(lane: "injected", at: instant(at + 400), by: .milliseconds(90))
      simulation.run(until: instant(at + 599))
      #expect(injected.safe.count == 1, "seed \(seed)")
    }
  }

  @Test("runLate: a release that comes due the instant the late tick ends is given up too")
  func runLateEnd() throws {
    let log = Log()
    let runtime = try Runtime {
      Lane("a") { Loop("l", every: .hertz(100), phase: .zero, late: .runLate) { log.loop() } }
    }
    let simulation = try runtime.simulation()
    simulation.stall(loop: "l", at: instant(20), by: .milliseconds(15))
    simulation.stall(loop: "l", at: instant(35), by: .milliseconds(5))
    simulation.run(for: .milliseconds(59))
    #expect(milliseconds(log.all) == [0, 10, 20, 35, 50])
  }

  @Test("a restart: deadlines, inputs and misses of the run before are forgotten")
  func forgotten() throws {
    let log = Log()
    let input = SimulatedInput()
    let runtime = try Runtime {
      Lane("a") {
        Loop(
          "l", every: .hertz(100), phase: .milliseconds(500), safeStateAfter: 3, inputs: [.simulated(input)],
          minimumInterval: .milliseconds(200), eachRun: { log.loop(deadlines: [300_000_000]) })
      }
    }
    func run(input at: Int64, until end: Int64, stalls: [(Int64, Int64)]) throws {
      let simulation = try runtime.simulation()
      for (start, by) in stalls { simulation.stall(loop: "l", at: instant(start), by: .milliseconds(by)) }
      input.readyAt.pointee = instant(at)
      simulation.run(until: instant(at))
      input.readyAt.pointee = .distantFuture
      simulation.run(until: instant(end))
    }
    try run(input: 100, until: 200, stalls: [])
    try run(input: 350, until: 499, stalls: [])
    try run(input: 50, until: 60, stalls: [])
    #expect(milliseconds(log.all) == [100, 350, 50])
    try run(input: 50, until: 515, stalls: [(500, 15)])  // two misses of three
    try run(input: 50, until: 511, stalls: [(500, 11)])  // one
    #expect(log.safe.isEmpty)
    try run(input: 50, until: 535, stalls: [(500, 35)])
    try run(input: 50, until: 535, stalls: [(500, 35)])
    #expect(log.safe.count == 2)
  }

  @Test("two lanes release at one instant: the one declared first acts first")
  func laneOrder() throws {
    struct Named: ControlLoop, NoOutput {
      let name: Int
      let order: UnsafeMutablePointer<Int>
      mutating func tick(_ tick: Tick) { order.pointee = order.pointee * 10 + name }
    }
    let order = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    defer { order.deallocate() }
    order.initialize(to: 0)
    let runtime = try Runtime {
      for name in 1...3 {
        Lane("\(name)") { Loop("\(name)", every: .hertz(10), phase: .zero) { Named(name: name, order: order) } }
      }
    }
    try runtime.simulate(for: .milliseconds(100))
    #expect(order.pointee == 123_123)
  }

  @Test("woken 30.5 ms late under skip: one oversleep, though the newest release is within the tolerance")
  func oversleepOfSkipped() throws {
    let runtime = try Runtime { Lane("a") { Loop("l", every: .hertz(100), phase: .zero) { Idle() } } }
    let simulation = try runtime.simulation()
    simulation.oversleep(lane: "a", at: instant(15), by: .microseconds(30_500))
    simulation.run(for: .milliseconds(99))
    let counters = try #require(runtime.statistics["l"]).counters
    #expect(counters.oversleeps == 1 && counters.skipped == 3 && counters.overruns == 0)
  }

  @Test("lateness up to the tolerance is no oversleep, a nanosecond more is one", arguments: [(0, 0), (1, 1)])
  func tolerance(beyond: Int64, oversleeps: Int64) throws {
    let runtime = try Runtime {
      Lane("a") { Loop("l", every: .hertz(100), phase: .zero, tolerance: .microseconds(70)) { Idle() } }
    }
    let simulation = try runtime.simulation()
    simulation.oversleep(lane: "a", at: instant(15), by: .nanoseconds(70_000 + beyond))
    simulation.run(for: .milliseconds(99))
    #expect(try #require(runtime.statistics["l"]).counters.oversleeps == oversleeps)
  }

  @Test("late behind another loop's tick: no oversleep, for the lane was awake")
  func lateBehindAnother() throws {
    let runtime = try Runtime {
      Lane("a") {
        Loop("fast", every: .hertz(100), phase: .milliseconds(5)) { Idle() }
        Loop("long", every: .hertz(10), phase: .zero) { Idle() }
      }
    }
    let simulation = try runtime.simulation()
    simulation.oversleep(lane: "a", at: instant(1), by: .milliseconds(3))
    simulation.stall(loop: "long", at: instant(100), by: .milliseconds(8))
    simulation.run(for: .milliseconds(149))
    let fast = try #require(runtime.statistics["fast"])
    #expect(fast.counters.oversleeps == 1, "the one that was injected")
    #expect(fast.latency.maximum == .milliseconds(3))
  }

  @Test("a tick that ends at its deadline is on time, a nanosecond later it is a miss", arguments: [(0, 0), (1, 1)])
  func deadline(beyond: Int64, misses: Int64) throws {
    let runtime = try Runtime {
      Lane("a") { Loop("l", every: .hertz(100), phase: .zero, deadline: .milliseconds(4)) { Idle() } }
    }
    let simulation = try runtime.simulation()
    simulation.stall(loop: "l", at: instant(20), by: .nanoseconds(4_000_000 + beyond))
    simulation.run(for: .milliseconds(99))
    let counters = try #require(runtime.statistics["l"]).counters
    #expect(counters.deadlineMisses == misses && counters.overruns == 0 && counters.ran == 10)
  }

  @Test("a tick as long as its period is no overrun, a nanosecond more is one and costs no release", arguments: [0, 1])
  func overrun(beyond: Int64) throws {
    let runtime = try Runtime { Lane("a") { Loop("l", every: .hertz(100), phase: .zero) { Idle() } } }
    let simulation = try runtime.simulation()
    simulation.stall(loop: "l", at: instant(20), by: .nanoseconds(10_000_000 + beyond))
    simulation.run(for: .milliseconds(99))
    let statistics = try #require(runtime.statistics["l"])
    #expect(statistics.counters.overruns == beyond && statistics.counters.skipped == 0)
    #expect(statistics.counters.deadlineMisses == beyond && statistics.counters.ran == 10)
    #expect(statistics.latency.minimum == .zero && statistics.latency.maximum?.count == beyond)
    #expect(statistics.execution.minimum == .zero && statistics.execution.maximum?.count == 10_000_000 + beyond)
  }

  @Test("exactly one period late: two releases are due, the older one is given up")
  func onePeriodLate() throws {
    let log = Log()
    let runtime = try Runtime { Lane("a") { Loop("l", every: .hertz(100), phase: .zero) { log.loop() } } }
    let simulation = try runtime.simulation()
    simulation.stall(loop: "l", at: instant(20), by: .milliseconds(20))
    simulation.run(for: .milliseconds(59))
    #expect(milliseconds(log.all) == [0, 10, 20, 40, 50])
    #expect(log.all.map(\.index) == [0, 1, 2, 4, 5])
  }

  @Test("catching up: released, ran, skipped and pending are what the clock says after every tick")
  func catchUp() throws {
    let runtime = try Runtime {
      Lane("a") {
        Loop("l", every: .hertz(100), phase: .zero, late: .catchUp(limit: 2), executionTime: .milliseconds(2)) {
          Idle()
        }
      }
    }
    let simulation = try runtime.simulation()
    simulation.stall(loop: "l", at: instant(10), by: .milliseconds(46))
    var seen: [[Int64]] = []
    for end in [11, 58, 60, 62, 64, 69] {
      simulation.run(until: instant(Int64(end)))
      let counters = try #require(runtime.statistics["l"]).counters
      seen.append([counters.released, counters.ran, counters.skipped, counters.pending])
    }
    // Busy until 58 with 20, 30, 40 and 50 due: 20 is given up; 30, 40, 50 run at 58, 60, 62, then 60 at 64.
    #expect(seen == [[2, 2, 0, 0], [6, 3, 1, 2], [7, 4, 1, 2], [7, 5, 1, 1], [7, 6, 1, 0], [7, 6, 1, 0]])
  }

  @Test("a tick says which release it is: missed since the last one, index of the one before for a deadline")
  func tickContents() throws {
    let log = Log()
    let runtime = try Runtime {
      Lane("a") {
        Loop("l", every: .hertz(100), phase: .milliseconds(2)) { log.loop(deadlines: [5_000_000, 15_000_000]) }
      }
    }
    let simulation = try runtime.simulation()
    simulation.stall(loop: "l", at: instant(20), by: .milliseconds(25))
    simulation.run(for: .milliseconds(60))
    #expect(log.all.map(\.index) == [0, 0, 1, 1, 2, 4, 5])
    #expect(log.all.map(\.cause) == [.period, .deadline, .period, .deadline, .period, .period, .period])
    #expect(log.all.map(\.missed) == [0, 0, 0, 0, 0, 1, 0])
    #expect(milliseconds(log.all) == [2, 5, 12, 15, 22, 47, 52])
  }

  @Test("a phase longer than the period: the first release is at the phase, none before counts")
  func longPhase() throws {
    let log = Log()
    let runtime = try Runtime { Lane("a") { Loop("l", every: .hertz(100), phase: .milliseconds(35)) { log.loop() } } }
    try runtime.simulate(for: .milliseconds(60))
    #expect(milliseconds(log.all) == [35, 45, 55])
    #expect(log.all.map(\.index) == [0, 1, 2])
  }

  @Test("three loops due at once: shorter period first, whatever the order of declaration; equal ones as declared")
  func rank() throws {
    let order = Log()
    let runtime = try Runtime {
      Lane("a") {
        Loop("slow", every: .hertz(10), phase: .zero, executionTime: .milliseconds(1)) { order.loop() }
        Loop("fast", every: .hertz(50), phase: .milliseconds(20), executionTime: .milliseconds(2)) { order.loop() }
        Loop("equal", every: .hertz(10), phase: .zero, executionTime: .milliseconds(3)) { order.loop() }
      }
    }
    try runtime.simulate(for: .milliseconds(110))
    // At 100 ms fast runs first and takes 2 ms, then slow 1 ms, then equal.
    #expect(milliseconds(order.all) == [0, 1, 20, 40, 60, 80, 100, 102, 103])
  }

  @Test("before the first start and after the last: no extremes without a value, and a restart begins at zero")
  func restart() throws {
    let log = Log()
    let input = SimulatedInput()
    let runtime = try Runtime {
      Lane("a") {
        Loop(
          "l", every: .hertz(10), phase: .zero, inputs: [.simulated(input)], minimumInterval: .milliseconds(50),
          eachRun: { log.loop(deadlines: [130_000_000]) })
      }
    }
    #expect(try #require(runtime.statistics["l"]).latency.minimum == nil)
    do {
      let simulation = try runtime.simulation()
      input.readyAt.pointee = instant(90)
      simulation.run(until: instant(125))  // a deadline is wanted, and the input still waits
    }
    #expect(milliseconds(log.all) == [0, 90, 100])
    input.readyAt.pointee = .distantFuture
    let simulation = try runtime.simulation()
    #expect(try #require(runtime.statistics["l"]).counters == LoopCounters())
    #expect(try #require(runtime.statistics["l"]).execution.minimum == nil)
    #expect(try #require(runtime.statistics["l"]).execution.count == 0)
    simulation.run(until: instant(99))
    #expect(milliseconds(log.all) == [0, 90, 100, 0])
    #expect(try #require(runtime.statistics["l"]).counters.ran == 1)
  }

  @Test("two loops share one input and the first drains it: the second, due already, runs with a sane instant")
  func sharedInput() throws {
    struct Draining: ControlLoop, NoOutput {
      let readyAt: UnsafeMutablePointer<TickInstant>
      mutating func tick(_ tick: Tick) { readyAt.pointee = .distantFuture }
    }
    let log = Log()
    let input = SimulatedInput()
    let runtime = try Runtime {
      Lane("a") {
        Loop("first", every: .hertz(10), phase: .milliseconds(50), inputs: [.simulated(input)]) {
          Draining(readyAt: input.readyAt)
        }
        Loop("second", every: .hertz(10), phase: .milliseconds(60), inputs: [.simulated(input)]) { log.loop() }
      }
    }
    let simulation = try runtime.simulation()
    input.readyAt.pointee = instant(7)
    simulation.run(until: instant(40))
    #expect(log.all.map(\.scheduled) == [instant(7)])
    #expect(try #require(runtime.statistics["second"]).latency.minimum == .zero)
  }

  @Test("an input that nobody drains: one release a minimum interval, each as late as it is")
  func stuckInput() throws {
    let log = Log()
    let input = SimulatedInput()
    let runtime = try Runtime {
      Lane("a") {
        Loop(
          "l", every: .hertz(1), phase: .milliseconds(500), inputs: [.simulated(input)],
          minimumInterval: .milliseconds(4)
        ) {
          log.loop()
        }
      }
    }
    let simulation = try runtime.simulation()
    input.readyAt.pointee = instant(10)
    simulation.run(until: instant(21))
    #expect(milliseconds(log.all) == [10, 14, 18])
    #expect(log.all.allSatisfy { $0.lateness == .zero && $0.index == -1 })
  }
}
