import Testing

@testable import Tactus

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
