import Testing

@testable import Tactus

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

  @_noLocks @_noAllocation
  mutating func safeState(_ tick: Tick, cause: SafeStateCause) { isOn = false }
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
