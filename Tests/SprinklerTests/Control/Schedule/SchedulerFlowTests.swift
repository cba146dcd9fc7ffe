import Tactus
import TestSupport
import Testing
import WallTime

@testable import Sprinkler

@Suite("The schedule and the flow of zones", .ownThread)
struct SchedulerFlowTests {
  private static func settings(_ rule: ZoneFlowRule = ZoneFlowRule(isLearnt: true)) -> SchedulerSettings {
    var settings = Garden.settings
    settings.pulsesPerLitre = 60
    settings.flows = [Garden.zone(1): rule]
    settings.zoneFlow.runs = 3
    return settings
  }

  /// A scheduler whose runs are made by hand, and what it has ordered of zones last.
  private struct World {
    var scheduler: SprinklerScheduler
    var second: Int64 = 0
    var notices: [SprinklerNotice] = []
    var limits: ZoneFlowLimits?
    var ordered = 0

    init(_ settings: SchedulerSettings, _ records: SprinklerRecords = Garden.records([])) {
      scheduler = SprinklerScheduler(records, settings: settings, boot: BootID("1"))
      step(.started)
    }

    mutating func step(_ event: SprinklerEvent) {
      let effects = scheduler.step(event, wall: Garden.start + second, monotonic: .zero + .seconds(second))
      notices += effects.notices
      for case .zone(Garden.zone(1), let settings) in effects.orders {
        limits = settings?.flow
        ordered += 1
      }
    }

    mutating func open(_ zone: Int, seconds: Int = 7_200) -> UInt64 {
      step(.command(.zoneOn(Garden.zone(zone), seconds: seconds), caller: nil))
      let run = scheduler.records.pending.last!.run
      step(.opened(run: run))
      return run
    }

    mutating func run(_ zone: Int, seconds: Int64, litresPerMinute: Double, _ outcome: RunOutcome = .completed) {
      let run = open(zone)
      second += seconds
      step(
        .ended(
          run: run, ranSeconds: Double(seconds), outcome: outcome,
          pulses: Int64((litresPerMinute * Double(seconds)).rounded())))
    }
  }

  @Test("a zone's flow is learnt from its whole runs as their median, and its limits are around it")
  func learnt() throws {
    var world = World(Self.settings())
    #expect(world.limits == nil && world.scheduler.flowStatus.map(\.words) == ["0 of 3 runs measured"])
    world.run(1, seconds: 120, litresPerMinute: 10)
    world.run(1, seconds: 120, litresPerMinute: 40)
    #expect(world.limits == nil && world.scheduler.flowStatus.map(\.words) == ["2 of 3 runs measured"])
    world.run(1, seconds: 120, litresPerMinute: 12)
    let words = "usually 12 l/min, learnt 2026-07-01 09:06 from 3 runs"
    #expect(world.scheduler.flowStatus.map(\.words) == [words])
    #expect(world.notices.contains(.flowLearnt(Garden.zone(1), words)))
    let limits = try #require(world.limits)
    #expect(abs((limits.minimum?.litresPerMinute ?? 0) - 8.4) < 1e-9 && limits.minimum?.runs == 3)
    #expect(abs((limits.maximum?.litresPerMinute ?? 0) - 15.6) < 1e-9)
    #expect(limits.maximum?.learntAt == (Garden.start + 360).secondsSince1970)
    // It stays as it is, so that a slow leak is not learnt.
    for _ in 0..<5 { world.run(1, seconds: 120, litresPerMinute: 15) }
    #expect(world.limits == limits)
    // Over a restart, too.
    #expect(World(Self.settings(), world.scheduler.records).limits == limits)
  }

  @Test("short, interrupted, shared and dry runs, and those of other zones, are not learnt from")
  func notLearnt() {
    var world = World(Self.settings())
    for _ in 0..<4 {
      world.run(1, seconds: 59, litresPerMinute: 10)
      world.run(1, seconds: 120, litresPerMinute: 10, .stopped)
      world.run(1, seconds: 120, litresPerMinute: 10, .fault)
      world.run(1, seconds: 120, litresPerMinute: 0)
      world.run(2, seconds: 120, litresPerMinute: 10)
      let first = world.open(1)
      let second = world.open(2)
      world.second += 120
      world.step(.ended(run: first, ranSeconds: 120, outcome: .completed, pulses: 1_200))
      world.step(.ended(run: second, ranSeconds: 120, outcome: .completed, pulses: 1_200))
    }
    #expect(world.scheduler.records.flows.isEmpty && world.limits == nil)
  }

  @Test("limits that are set hold before the flow is learnt, and of both the tighter one after")
  func set() throws {
    var world = World(Self.settings(ZoneFlowRule(minimum: 2, maximum: 13, isLearnt: true)))
    #expect(world.limits?.minimum == .init(litresPerMinute: 2) && world.limits?.maximum == .init(litresPerMinute: 13))
    for _ in 0..<3 { world.run(1, seconds: 120, litresPerMinute: 12) }
    let limits = try #require(world.limits)
    #expect(limits.minimum?.runs == 3 && limits.maximum == .init(litresPerMinute: 13))
  }

  @Test("forget: limits that are set hold alone, and the flow is learnt anew")
  func forgotten() {
    var world = World(Self.settings(ZoneFlowRule(maximum: 50, isLearnt: true)))
    for _ in 0..<3 { world.run(1, seconds: 120, litresPerMinute: 12) }
    world.step(.command(.forgetFlow(Garden.zone(1)), caller: nil))
    #expect(world.limits?.minimum == nil && world.limits?.maximum == .init(litresPerMinute: 50))
    for _ in 0..<3 { world.run(1, seconds: 120, litresPerMinute: 20) }
    #expect(world.scheduler.flowStatus.first?.flow?.litresPerMinute == 20)
  }

  @Test("other rules of a reloaded file: the limits change once every valve is closed")
  func reloaded() {
    var world = World(Self.settings(ZoneFlowRule(maximum: 50)))
    #expect(world.limits?.reaction == .fault)
    let run = world.open(1)
    var other = Self.settings(ZoneFlowRule(maximum: 50))
    other.zoneFlow.isFault = false
    world.step(.settings(other))
    #expect(world.limits?.reaction == .fault)
    world.second += 60
    world.step(.ended(run: run, ranSeconds: 60, outcome: .completed, pulses: 1))
    #expect(world.limits?.reaction == .notice)
  }

  @Test("no flow sensor: nothing is watched or learnt, and nothing is shown")
  func noSensor() {
    var settings = Self.settings(ZoneFlowRule(maximum: 50, isLearnt: true))
    settings.pulsesPerLitre = nil
    var world = World(settings)
    for _ in 0..<4 { world.run(1, seconds: 120, litresPerMinute: 12) }
    #expect(world.limits == nil && world.scheduler.flowStatus.isEmpty && world.scheduler.records.flows.isEmpty)
  }
}
