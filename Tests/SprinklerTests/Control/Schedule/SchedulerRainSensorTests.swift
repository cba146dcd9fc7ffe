import Tactus
import TestSupport
import Testing
import WallTime

@testable import Sprinkler

@Suite("The schedule and the rain sensor", .ownThread)
struct SchedulerRainSensorTests {
  private static func world(
    _ rule: RainSensorRule?, zones: [Zone] = Garden.zones(), change: (inout SchedulerSettings) -> Void = { _ in }
  ) throws -> ScheduleSimulation {
    var settings = Garden.settings
    settings.rainSensor = rule
    change(&settings)
    return try Garden.world([Garden.program(1)], at: Garden.at(7, 1, 5), zones: zones, settings: settings)
  }

  private func expect(_ world: inout ScheduleSimulation, _ lines: [String], until: WallInstant = Garden.at(7, 1, 12)) {
    world.run(untilWall: until)
    #expect(world.log.map { $0.words + ($0.why.map { ": \($0)" } ?? "") } == lines)
    world.settle()
    #expect(world.checks.failures.isEmpty, "\(world.checks.failures)")
  }

  private static let asScheduled = ["1: 600 s completed 2026-07-01 06:00:00", "2: 600 s completed 2026-07-01 06:10:00"]

  private func words(_ world: borrowing ScheduleSimulation) -> RainSensorStatus.Word? {
    world.scheduler.rainSensorStatus?.word
  }

  @Test("a wet sensor: starts are suppressed, log and preview say since when; a zone that ignores rain runs")
  func wet() throws {
    let zones = Garden.zones { if $0.id == Garden.zone(2) { $0.ignoresRain = true } }
    var world = try Self.world(RainSensorRule(), zones: zones)
    world.run(untilWall: Garden.at(7, 1, 5, 50))
    world.senseRain(.wet)
    let why = "rain sensor wet since 2026-07-01 05:50"
    #expect(words(world) == .wet)
    #expect(world.stored.rainDelay?.reason == .sensor(why))
    let runs = world.scheduler.preview(after: world.wall, count: 1).starts.flatMap(\.runs)
    #expect(runs.map(\.skipped) == [.rainDelay, nil] && runs.map(\.why) == [why, nil])
    expect(
      &world, ["1: 0 s rainDelay 2026-07-01 06:00:00: \(why)", "2: 600 s completed 2026-07-01 06:00:00"])
    #expect(world.notices.map(\.notice).contains(.rainSensor(.wet)))
    // Said once, however often it is renewed.
    #expect(world.notices.count { if case .rainDelaySet = $0.notice { true } else { false } } == 1)
  }

  @Test("wet for days: held as long as it is wet, and over when it is dry")
  func days() throws {
    var world = try Self.world(RainSensorRule())
    world.senseRain(.wet)
    world.run(untilWall: Garden.at(7, 4, 5))
    #expect(world.log.count == 6 && world.log.allSatisfy { $0.outcome == .rainDelay })
    world.senseRain(.dry)
    #expect(world.stored.rainDelay == nil && words(world) == .dry)
    world.run(untilWall: Garden.at(7, 4, 7))
    #expect(world.log.suffix(2).map(\.outcome) == [.completed, .completed])
  }

  @Test("wet while a program runs: ended or finished, as configured", arguments: [true, false])
  func running(endsOpenRuns: Bool) throws {
    var world = try Self.world(RainSensorRule(delaySeconds: 60)) { $0.rainEndsOpenRuns = endsOpenRuns }
    world.run(untilWall: Garden.at(7, 1, 6, 4))
    world.senseRain(.wet)
    let why = ": rain sensor wet since 2026-07-01 06:04"
    world.run(untilWall: Garden.at(7, 1, 7))
    let first = endsOpenRuns ? "1: 300 s rainDelay 2026-07-01 06:00:00" + why : "1: 600 s completed 2026-07-01 06:00:00"
    #expect(
      Set(world.log.map { $0.words + ($0.why.map { ": \($0)" } ?? "") })
        == [first, "2: 0 s rainDelay 2026-07-01 06:00:00" + why])
  }

  @Test("delay_minutes: a shorter shower changes nothing; a longer one acts without another reading")
  func delay() throws {
    var world = try Self.world(RainSensorRule(delaySeconds: 600))
    world.run(untilWall: Garden.at(7, 1, 5, 48))
    world.senseRain(.wet)
    world.run(untilWall: Garden.at(7, 1, 5, 57))
    #expect(words(world) == .waits && world.stored.rainDelay == nil)
    world.senseRain(.dry)
    expect(&world, Self.asScheduled)

    var long = try Self.world(RainSensorRule(delaySeconds: 600))
    long.run(untilWall: Garden.at(7, 1, 5, 49))
    long.senseRain(.wet)
    long.run(untilWall: Garden.at(7, 1, 5, 59))
    #expect(words(long) == .wet && long.stored.rainDelay != nil)
  }

  @Test("dry_hours: the delay outlasts the rain by so much, over a restart and a power cut; a person may end it")
  func drying() throws {
    var world = try Self.world(RainSensorRule(drySeconds: 7_200))
    world.senseRain(.wet)
    world.run(untilWall: Garden.at(7, 1, 5, 30))
    world.senseRain(.dry)
    let why = "rain sensor wet until 2026-07-01 05:30: dries for 2 h"
    #expect(world.stored.rainDelay?.reason == .sensor(why))
    #expect(world.stored.rainDelay?.until == Garden.at(7, 1, 7, 30))
    world.restart(after: .seconds(60))
    world.senseRain(.dry)
    world.powerCut(for: .seconds(60))
    world.senseRain(.dry)
    #expect(world.stored.rainDelay?.reason == .sensor(why))
    expect(
      &world, ["1: 0 s rainDelay 2026-07-01 06:00:00: \(why)", "2: 0 s rainDelay 2026-07-01 06:00:00: \(why)"],
      until: Garden.at(7, 1, 7, 29))
    #expect(world.stored.rainDelay != nil)
    world.run(untilWall: Garden.at(7, 1, 7, 31))
    #expect(world.stored.rainDelay == nil)

    world.senseRain(.wet)
    world.senseRain(.dry)
    world.ask(.cancelRainDelay)
    world.run(for: .seconds(600))
    world.senseRain(.dry)
    #expect(world.stored.rainDelay == nil)
  }

  @Test("a restart in the rain: the delay is there before the first reading, goes on if wet, is over if dry")
  func restart() throws {
    for reading in [RainSensorReading.wet, .dry] {
      var world = try Self.world(RainSensorRule(delaySeconds: 3_600))
      world.senseRain(.wet)
      world.run(untilWall: Garden.at(7, 1, 6, 30))
      let before = world.stored.rainDelay
      #expect(before != nil)
      world.kill(for: .seconds(10))
      #expect(world.scheduler.rainDelay(at: world.wall) != nil)
      world.senseRain(reading)
      world.run(for: .seconds(3_000))
      #expect((world.stored.rainDelay != nil) == (reading == .wet))
    }
    // It became dry while nobody looked: the delay no longer says that it is wet, and lasts as long.
    var world = try Self.world(RainSensorRule(drySeconds: 7_200))
    world.senseRain(.wet)
    world.run(untilWall: Garden.at(7, 1, 5, 30))
    let until = world.stored.rainDelay?.until
    world.kill(for: .seconds(10))
    world.senseRain(.dry)
    #expect(world.stored.rainDelay?.reason == .sensor("rain sensor was wet before the last start"))
    #expect(world.stored.rainDelay.map { abs($0.until - until!) <= 1 } == true)
  }

  @Test("a person ends the delay of a wet sensor: schedules run until it has been dry and is wet again")
  func lifted() throws {
    var world = try Self.world(RainSensorRule(drySeconds: 3_600))
    world.senseRain(.wet)
    world.ask(.cancelRainDelay)
    #expect(words(world) == .lifted)
    expect(&world, Self.asScheduled)
    world.senseRain(.dry)
    #expect(world.stored.rainDelay == nil)
    world.senseRain(.wet)
    #expect(world.stored.rainDelay != nil && words(world) == .wet)
  }

  @Test("a longer delay by hand stays, a wet sensor takes over before it ends; so after a forecast's")
  func others() throws {
    var world = try Self.world(RainSensorRule())
    world.ask(.setRainDelay(seconds: 7_200))
    world.senseRain(.wet)
    #expect(world.stored.rainDelay?.reason == .manual)
    world.run(untilWall: Garden.at(7, 1, 8))
    let why = "rain sensor wet since 2026-07-01 05:00"
    #expect(world.stored.rainDelay?.reason == .sensor(why))

    var other = try Self.world(RainSensorRule())
    other.ask(.setForecast(isOn: true))
    other.forecast(.rain(seconds: 86_400, reason: "8 mm"))
    other.senseRain(.wet)
    #expect(other.stored.rainDelay?.reason == .weather("8 mm"))
    other.forecast(.dry)
    #expect(other.stored.rainDelay?.reason == .sensor(why))
    other.forecast(.rain(seconds: 700, reason: "9 mm"))
    #expect(other.stored.rainDelay?.reason == .sensor(why))

    var shorter = try Self.world(RainSensorRule(drySeconds: 86_400))
    shorter.senseRain(.wet)
    shorter.ask(.setRainDelay(seconds: 3_600))
    shorter.run(untilWall: Garden.at(7, 1, 5, 10))
    #expect(shorter.stored.rainDelay?.reason == .sensor(why))

    var dry = try Self.world(RainSensorRule(drySeconds: 600))
    dry.ask(.setRainDelay(seconds: 7_200))
    dry.senseRain(.wet)
    dry.senseRain(.dry)
    #expect(dry.stored.rainDelay?.reason == .manual)
  }

  @Test("an unreadable line: schedules run as they are, said once; a delay that had begun runs to its end")
  func unreadable() throws {
    var world = try Self.world(RainSensorRule())
    for _ in 0..<3 { world.senseRain(.unreadable) }
    #expect(words(world) == .unknown)
    expect(&world, Self.asScheduled)
    #expect(world.notices.map(\.notice).filter { $0 == .rainSensor(.unknown) }.count == 1)

    world.senseRain(.wet)
    world.senseRain(.unreadable)
    #expect(world.stored.rainDelay != nil)
    world.run(for: .seconds(1_201))
    #expect(world.stored.rainDelay == nil)
  }

  @Test("wet for two weeks on end: a broken wire, said once, and schedules run; dry, it counts again")
  func stuck() throws {
    var world = try Self.world(RainSensorRule(drySeconds: 3_600))
    world.senseRain(.wet)
    world.run(untilWall: Garden.at(7, 15, 4))
    #expect(words(world) == .wet && world.stored.rainDelay != nil)
    world.run(untilWall: Garden.at(7, 16, 12))
    #expect(words(world) == .stuck && world.stored.rainDelay == nil)
    #expect(world.log.suffix(2).map(\.outcome) == [.completed, .completed])
    #expect(world.notices.map(\.notice).filter { $0 == .rainSensor(.stuck) }.count == 1)
    world.senseRain(.dry)
    #expect(world.stored.rainDelay == nil)
    world.senseRain(.wet)
    #expect(words(world) == .wet)
  }

  @Test("other rules of a reloaded file count for what rains at present")
  func reloaded() throws {
    var world = try Self.world(RainSensorRule(delaySeconds: 36_000))
    world.senseRain(.wet)
    #expect(words(world) == .waits)
    var settings = Garden.settings
    settings.rainSensor = RainSensorRule(delaySeconds: 0)
    world.apply(settings)
    #expect(words(world) == .wet && world.stored.rainDelay != nil)
  }
}
