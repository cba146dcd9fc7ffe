import Tactus
import TestSupport
import Testing

@testable import Sprinkler

/// What the flow sensor must not say, changed while the valves' loop runs. A valve of the garden lets 10 l/min through.
@Suite(.ownThread) struct FlowLimitsTests {
  private typealias Watch = FlowSettings.Watch
  private static let limits = FlowLimits(
    noFlow: try! Watch(litresPerMinute: 1, over: .seconds(30)),
    highFlow: try! Watch(litresPerMinute: 20, over: .seconds(10)))

  private static func bench(_ limits: FlowLimits = limits) -> SprinklerBench {
    SprinklerBench.started(
      flow: try! FlowSettings(
        pulsesPerLitre: 60, noFlow: limits.noFlow, highFlow: limits.highFlow, leak: limits.leak))
  }

  @Test("a tighter flow limit holds at once: too much flows at the next measurement, the valve closes")
  func tighter() throws {
    let bench = Self.bench()
    bench.on(1, 600)
    bench.advance(to: 100)
    var new = Self.limits
    new.highFlow = try Watch(litresPerMinute: 5, over: .seconds(10))
    let number = bench.change(new)
    bench.advance(to: 112)
    #expect(bench.snapshot.state == .fault(.flow(.highFlow(ZoneID(1)!))) && bench.on.isEmpty)
    #expect(bench.limits.progress(number) == .taken)
  }

  @Test("a limit that only gave notice becomes one that stops: the alarm that is known already closes everything, too")
  func stopsAtLast() throws {
    let noticed = FlowLimits(highFlow: try Watch(litresPerMinute: 5, over: .seconds(10), reaction: .notice))
    let bench = Self.bench(noticed)
    bench.on(1, 600)
    bench.advance(to: 100)
    #expect(bench.snapshot.state == .watering && bench.snapshot.flow?.alarm == .highFlow(ZoneID(1)!))
    _ = bench.change(FlowLimits(highFlow: try Watch(litresPerMinute: 5, over: .seconds(10))))
    bench.advance(to: 112)
    #expect(bench.snapshot.state == .fault(.flow(.highFlow(ZoneID(1)!))) && bench.on.isEmpty)
  }

  @Test("a shorter time of measurement ends the one that runs: no flow is found at once")
  func shorter() throws {
    let bench = Self.bench(FlowLimits(noFlow: try Watch(litresPerMinute: 1, over: .seconds(3_600))))
    bench.garden.inject(.stuckClosed(0))
    bench.on(1, 600)
    bench.advance(to: 100)
    #expect(bench.snapshot.state == .watering)
    _ = bench.change(Self.limits)
    bench.advance(to: 102)
    #expect(bench.snapshot.state == .fault(.flow(.noFlow(ZoneID(1)!))) && bench.on.isEmpty)
  }

  @Test("a wider flow limit waits until every valve is closed: a pipe that bursts before is found by the old one")
  func wider() throws {
    let bench = Self.bench()
    var new = Self.limits
    new.highFlow = try Watch(litresPerMinute: 60, over: .seconds(10))
    bench.on(1, 600)
    bench.advance(to: 100)
    let number = bench.change(new)
    bench.advance(to: 110)
    #expect(bench.limits.progress(number) == .takenInPart && bench.limits.inEffect == Self.limits)
    bench.garden.inject(.burst(litresPerMinute: 40))
    bench.advance(to: 131)
    #expect(bench.snapshot.state == .fault(.flow(.highFlow(ZoneID(1)!))) && bench.on.isEmpty)
    #expect(bench.limits.progress(number) == .taken && bench.limits.inEffect == new)
    bench.request(.reset)
    bench.on(1, 60)
    bench.advance(to: 180)
    #expect(bench.snapshot.state == .watering && bench.snapshot.flow?.alarm == nil)
  }

  @Test("a limit that is taken away: its alarm ends, unless it is the reason for a fault")
  func unwatched() throws {
    for reaction in [FlowSettings.Reaction.notice, .fault] {
      let bench = Self.bench(
        FlowLimits(noFlow: try Watch(litresPerMinute: 1, over: .seconds(30), reaction: reaction)))
      bench.garden.inject(.stuckClosed(0))
      bench.on(1, 60)
      bench.advance(to: 100)
      #expect(bench.snapshot.flow?.alarm == .noFlow(ZoneID(1)!))
      let number = bench.change(FlowLimits())
      bench.advance(to: 102)
      #expect(bench.limits.progress(number) == .taken)
      #expect(bench.snapshot.flow?.alarm == (reaction == .fault ? .noFlow(ZoneID(1)!) : nil))
      #expect(bench.takeNotices().contains { $0.hasSuffix("flow normal") } == (reaction == .notice))
    }
  }

  @Test("without a sensor limits mean nothing, and are taken")
  func withoutSensor() {
    let bench = SprinklerBench.started()
    let number = bench.change(Self.limits)
    bench.advance(to: 2)
    bench.on(1, 600)
    bench.advance(to: 100)
    #expect(bench.limits.progress(number) == .taken && bench.snapshot.state == .watering)
  }

  @Test("the tighter of two limits: reached first, over the shorter time, a fault if either is")
  func tighterOfTwo() throws {
    let one = FlowLimits(
      noFlow: try Watch(litresPerMinute: 1, over: .seconds(30), reaction: .notice),
      highFlow: try Watch(litresPerMinute: 20, over: .seconds(10)),
      leak: try Watch(litresPerMinute: 2, over: .seconds(60)))
    let other = FlowLimits(
      noFlow: try Watch(litresPerMinute: 3, over: .seconds(20)),
      highFlow: try Watch(litresPerMinute: 30, over: .seconds(40), reaction: .notice))
    let expected = FlowLimits(
      noFlow: try Watch(litresPerMinute: 3, over: .seconds(20)),
      highFlow: try Watch(litresPerMinute: 20, over: .seconds(10)),
      leak: try Watch(litresPerMinute: 2, over: .seconds(60)))
    #expect(one.tighter(than: other) == expected && other.tighter(than: one) == expected)
  }
}
