import Testing

@testable import Tactus

/// Counts its ticks; nothing else.
struct Idle: ControlLoop {
  @_noLocks @_noAllocation
  mutating func tick(_ tick: borrowing Tick) {}
}

@Suite("Runtime in simulated time")
struct SimulatedRuntimeTests {
  @Test("1 kHz for an hour: every release runs, on time")
  func hour() throws {
    let runtime = try Runtime { Lane("a") { Loop("idle", every: .hertz(1000)) { Idle() } } }
    try runtime.simulate(for: .seconds(3600))
    let counters = try #require(runtime.statistics["idle"]).counters
    #expect(counters.ran == 3_600_001)
    #expect(counters.released == counters.ran + counters.skipped + counters.pending)
  }
}
