import TestSupport
import Testing

@testable import Tactus

@Suite("Deadlines, inputs and safe states in simulated time", .ownThread)
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
        Loop("l", every: .hertz(10), phase: .zero, inputs: [.simulated(input)], minimumInterval: .milliseconds(5)) {
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
    struct Stale: ControlLoop, NoOutput {
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
