import Tactus
import TestSupport
import Testing

@testable import Sprinkler

/// The limits of a zone's own flow. A valve of the garden lets 10 l/min through.
@Suite(.ownThread) struct ZoneFlowTests {
  private static func bench(
    _ minimum: Double?, _ maximum: Double?, reaction: FlowSettings.Reaction = .fault, maximumOpen: Int = 1
  ) -> SprinklerBench {
    SprinklerBench.started(
      maximumOpen: maximumOpen, groups: [0: maximumOpen], flow: try! FlowSettings(pulsesPerLitre: 60)
    ) { zone, settings in
      guard zone == 1 else { return }
      settings.flow = limits(minimum, maximum, reaction)
    }
  }

  private static func limits(
    _ minimum: Double?, _ maximum: Double?, _ reaction: FlowSettings.Reaction = .fault
  ) -> ZoneFlowLimits {
    ZoneFlowLimits(
      minimum: minimum.map { .init(litresPerMinute: $0, runs: 5, learntAt: 1_000) },
      maximum: maximum.map { .init(litresPerMinute: $0) }, over: .seconds(10), reaction: reaction)
  }

  @Test("a zone's flow within its limits: no alarm; another zone's flow is not judged by them")
  func within() {
    let bench = Self.bench(9, 11)
    bench.on(1, 600)
    bench.advance(to: 300)
    #expect(bench.snapshot.state == .watering && bench.snapshot.flow?.alarm == nil)
    bench.garden.inject(.burst(litresPerMinute: 30))
    bench.on(2, 600)
    bench.advance(to: 500)
    #expect(bench.snapshot.state == .watering && bench.snapshot.flow?.alarm == nil)
  }

  @Test("less than a zone's limit: a fault that says how much flowed, and which limit, learnt from how many runs")
  func below() {
    let bench = Self.bench(12, nil)
    bench.on(1, 600)
    bench.advance(to: 19)
    #expect(bench.snapshot.state == .watering)
    bench.advance(to: 25)
    let verdict = ZoneFlowVerdict(
      zone: ZoneID(1)!, litresPerMinute: 10, limit: .init(litresPerMinute: 12, runs: 5, learntAt: 1_000))
    #expect(bench.snapshot.state == .fault(.flow(.belowLimit(verdict))) && bench.on.isEmpty)
  }

  @Test("more than a zone's limit: a fault; with a notice the valve stays open and the alarm ends with the flow")
  func above() {
    for reaction in [FlowSettings.Reaction.fault, .notice] {
      let bench = Self.bench(nil, 12, reaction: reaction)
      bench.on(1, 600)
      bench.advance(to: 60)
      bench.garden.inject(.burst(litresPerMinute: 5))
      bench.advance(to: 90)
      guard case .aboveLimit(let verdict) = bench.snapshot.flow?.alarm else { return #expect(Bool(false)) }
      #expect(verdict.limit == .init(litresPerMinute: 12) && verdict.litresPerMinute > 12)
      #expect(bench.on.isEmpty == (reaction == .fault))
      bench.garden.clearFaults()
      bench.advance(to: 120)
      #expect((bench.snapshot.flow?.alarm == nil) == (reaction == .notice))
    }
  }

  @Test("two zones open together: nobody knows which lets how much through, so neither is judged")
  func together() {
    let bench = Self.bench(12, 12, maximumOpen: 2)
    bench.on(2, 600)
    bench.on(1, 600)
    bench.advance(to: 100)
    #expect(bench.snapshot.state == .watering && bench.snapshot.flow?.alarm == nil)
    bench.request(.off(ZoneID(2)!, dropsQueued: true))
    bench.advance(to: 200)
    #expect(bench.snapshot.state != .watering)
  }

  @Test("a limit that is taken away or another: its notice ends")
  func forgotten() {
    let bench = Self.bench(12, nil, reaction: .notice)
    bench.on(1, 600)
    bench.advance(to: 60)
    #expect(bench.snapshot.flow?.alarm != nil)
    bench.request(.zone(ZoneID(1)!, ZoneSettings(line: 0)))
    #expect(bench.snapshot.flow?.alarm == nil && bench.snapshot.state == .watering)
    bench.advance(to: 100)
    #expect(bench.snapshot.flow?.alarm == nil)
  }
}
