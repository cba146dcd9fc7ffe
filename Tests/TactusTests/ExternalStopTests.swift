import TestSupport
import Testing

@testable import Tactus

private func instant(_ milliseconds: Int64) -> TickInstant { TickInstant(nanoseconds: milliseconds * 1_000_000) }

/// What a loop was called with, in order.
private final class Order {
  var words: [String] = []
}

private struct Ordered: ControlLoop {
  let order: Order

  mutating func tick(_ tick: Tick) { order.words.append("tick \(tick.started.nanoseconds / 1_000_000)") }

  mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    if case .stop = cause { return }
    order.words.append("safe \(tick.started.nanoseconds / 1_000_000)")
  }
}

@Suite(.ownThread) struct ExternalStopTests {
  private func stops(_ log: Log) -> [TickInstant] {
    log.safe.compactMap { if case .externalStop(let at) = $0 { at } else { nil } }
  }

  @Test("a stop from outside: every loop is asked for its safe state once, before its next tick")
  func told() throws {
    let (one, other) = (Log(), Log())
    let stops = ExternalStops()
    let runtime = try Runtime(externalStops: stops) {
      Lane("a") { Loop("one", every: .hertz(100), phase: .zero) { one.loop() } }
      Lane("b") { Loop("other", every: .hertz(10), phase: .zero) { other.loop() } }
    }
    let simulation = try runtime.simulation()
    simulation.run(until: instant(205))
    #expect(one.safe.isEmpty && other.safe.isEmpty)
    stops.note(at: instant(203))
    simulation.run(until: instant(1_005))
    for log in [one, other] { #expect(self.stops(log) == [instant(203)]) }
    // They tick on.
    #expect(one.all.count == 101 && other.all.count == 11)
  }

  @Test("a stop from outside: the safe state comes before the tick of the same release")
  func order() throws {
    let order = Order()
    let stops = ExternalStops()
    let runtime = try Runtime(externalStops: stops) {
      Lane("a") { Loop("one", every: .hertz(10), phase: .zero) { Ordered(order: order) } }
    }
    let simulation = try runtime.simulation()
    simulation.run(until: instant(105))
    stops.note(at: instant(110))
    simulation.run(until: instant(205))
    #expect(order.words == ["tick 0", "tick 100", "safe 200", "tick 200"])
  }

  @Test("several stops between two ticks: the first counts; one later is told again")
  func several() throws {
    let probe = Log()
    let stops = ExternalStops()
    let runtime = try Runtime(externalStops: stops) {
      Lane("a") { Loop("one", every: .hertz(10), phase: .zero) { probe.loop() } }
    }
    let simulation = try runtime.simulation()
    simulation.run(until: instant(105))
    for time: Int64 in [110, 130, 150] { stops.note(at: instant(time)) }
    simulation.run(until: instant(305))
    stops.note(at: instant(310))
    simulation.run(until: instant(505))
    #expect(self.stops(probe) == [instant(110), instant(310)])
  }

  @Test("more stops than are kept: told as of the loop's last tick, not later than it was")
  func overflow() throws {
    let probe = Log()
    let stops = ExternalStops()
    let runtime = try Runtime(externalStops: stops) {
      Lane("a") { Loop("one", every: .hertz(10), phase: .zero) { probe.loop() } }
    }
    let simulation = try runtime.simulation()
    simulation.run(until: instant(105))
    for number in 0..<Int64(ExternalStops.capacity) + 10 { stops.note(at: instant(110) + .microseconds(number)) }
    simulation.run(until: instant(205))
    #expect(self.stops(probe) == [instant(100)])
    #expect(stops.count == ExternalStops.capacity + 10)
    #expect(stops.instant(of: 1) == nil && stops.instant(of: stops.count) != nil)
  }

  @Test("stops before the start are nobody's business; one before the end is told before the last safe state")
  func edges() throws {
    let probe = Log()
    let stops = ExternalStops()
    stops.note(at: .zero)
    let runtime = try Runtime(externalStops: stops) {
      Lane("a") { Loop("one", every: .hertz(10), phase: .zero) { probe.loop() } }
    }
    let simulation = try runtime.simulation()
    simulation.run(until: instant(105))
    #expect(probe.safe.isEmpty)
    stops.note(at: instant(110))
    simulation.stop()
    guard probe.safe.count == 2, case .externalStop = probe.safe[0], case .stop = probe.safe[1] else {
      return #expect(Bool(false), "\(probe.safe)")
    }
  }
}
