import Testing

@testable import Tactus

@Suite struct SimulationStartTests {
  private func runtime(_ log: Log) throws(RuntimeError) -> Runtime {
    try Runtime {
      Lane("a") { Loop("l", every: .hertz(100), phase: .milliseconds(2)) { log.loop() } }
      Lane("b") { Loop("m", every: .hertz(50), phase: .zero) { Idle() } }
    }
  }

  @Test("a simulation that begins later: releases and accounts count from there")
  func start() throws {
    let log = Log()
    let runtime = try runtime(log)
    let start = TickInstant.zero + .seconds(3)
    let simulation = try runtime.simulation(from: start)
    #expect(simulation.now == start)
    simulation.run(for: .milliseconds(100))
    #expect(log.all.map(\.started) == (0..<10).map { start + .milliseconds(2 + 10 * Int64($0)) })
    let counters = try #require(runtime.statistics["l"]).counters
    #expect((counters.released, counters.ran, counters.oversleeps) == (10, 10, 0))
    #expect(runtime.counters(of: "l") == counters)
    #expect(runtime.counters(of: "nobody") == nil)
  }

  @Test("tick by tick: the same ticks as in one go, and time stands at each; none left: it passes up to the end")
  func tickByTick() throws {
    let (log, whole) = (Log(), Log())
    let simulation = try runtime(log).simulation()
    var instants: [TickInstant] = []
    while simulation.runTick(until: .zero + .milliseconds(100)) { instants.append(simulation.now) }
    #expect(simulation.now == .zero + .milliseconds(100))
    let inOne = try runtime(whole).simulation()
    #expect(inOne.run(for: .milliseconds(100)) == Int64(instants.count))
    #expect(inOne.traceHash == simulation.traceHash)
    #expect(log.all.map(\.started) == instants.filter { $0.nanoseconds % 10_000_000 == 2_000_000 })
  }
}
