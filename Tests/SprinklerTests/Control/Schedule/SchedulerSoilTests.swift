import Tactus
import TestSupport
import Testing
import WallTime

@testable import Sprinkler

@Suite("The schedule and the soil", .ownThread)
struct SchedulerSoilTests {
  private static func world(
    _ rules: [MoistureRule], steps: [(Int, Int)] = [(1, 600), (2, 600)], _ zones: [Zone] = Garden.zones()
  ) throws -> ScheduleSimulation {
    var settings = Garden.settings
    settings.moisture = rules
    return try Garden.world(
      [Garden.program(1, steps: steps)], at: Garden.at(7, 1, 5, 50), zones: zones, settings: settings)
  }

  private func read(_ world: inout ScheduleSimulation, _ percent: Double, plant: Int = 3, age: Double = 0) {
    world.moisten([MoistureReading(probe: .plant(plant), percent: percent, ageSeconds: age)])
  }

  private func expect(
    _ world: inout ScheduleSimulation, _ lines: [String], why: [String?], until: WallInstant = Garden.at(7, 1, 7)
  ) {
    world.run(untilWall: until)
    #expect(world.log.map(\.words) == lines)
    #expect(world.log.map(\.why) == why)
    world.settle()
    #expect(world.checks.failures.isEmpty, "\(world.checks.failures)")
  }

  private static let asScheduled = ["1: 600 s completed 2026-07-01 06:00:00", "2: 600 s completed 2026-07-01 06:10:00"]

  @Test("wet soil skips its zones: the log and the notices say which reading of when; other zones run")
  func skips() throws {
    var world = try Self.world([MoistureRule(probe: .plant(3), zones: [Garden.zone(1)], wetPercent: 60, effect: .skip)])
    world.run(untilWall: Garden.at(7, 1, 5, 55))
    read(&world, 72, age: 60)
    let why = "plant 3 read 72 % at 2026-07-01 05:54, wet from 60 % on"
    expect(
      &world, ["1: 0 s wetSoil 2026-07-01 06:00:00", "2: 600 s completed 2026-07-01 06:00:00"], why: [why, nil])
    #expect(
      world.notices.map(\.notice).contains(.soil(id: 1, name: "program 1", zone: Garden.zone(1), why: why)))
  }

  @Test("dry soil: as scheduled, and nothing is said of it")
  func dry() throws {
    var world = try Self.world([MoistureRule(probe: .plant(3), wetPercent: 60, effect: .skip)])
    read(&world, 59.9)
    expect(&world, Self.asScheduled, why: [nil, nil])
  }

  @Test("shorten: the run lasts its percentage, and says why")
  func shortens() throws {
    var world = try Self.world([
      MoistureRule(probe: .plant(3), zones: [Garden.zone(2)], wetPercent: 60.5, effect: .shorten(percent: 30))
    ])
    read(&world, 60.5)
    expect(
      &world, ["1: 600 s completed 2026-07-01 06:00:00", "2: 180 s completed 2026-07-01 06:10:00"],
      why: [nil, "plant 3 read 60.5 % at 2026-07-01 05:50, wet from 60.5 % on: watered for 30 % of the time"])
  }

  @Test("stop: wet soil ends what a schedule has opened or queued, not what a person has; skip lets it go on")
  func stops() throws {
    for effect in [MoistureRule.Effect.stop, .skip] {
      var world = try Self.world([MoistureRule(probe: .plant(3), wetPercent: 60, effect: effect)])
      read(&world, 20)
      world.run(untilWall: Garden.at(7, 1, 6, 2))
      world.ask(.runOnce([Program.Step(zone: Garden.zone(3), seconds: 60)]))
      world.run(untilWall: Garden.at(7, 1, 6, 5))
      read(&world, 80)
      let why = "plant 3 read 80 % at 2026-07-01 06:05, wet from 60 % on"
      if effect == .skip {
        expect(
          &world, Self.asScheduled + ["3: 60 s completed 2026-07-01 06:20:00"], why: [nil, nil, nil])
      } else {
        world.run(untilWall: Garden.at(7, 1, 7))
        #expect(
          Set(world.log.map { "\($0.words), \($0.why ?? "-")" }) == [
            "1: 300 s wetSoil 2026-07-01 06:00:00, \(why)", "2: 0 s wetSoil 2026-07-01 06:05:00, \(why)",
            "3: 60 s completed 2026-07-01 06:05:00, -",
          ])
        world.settle()
        #expect(world.checks.failures.isEmpty, "\(world.checks.failures)")
      }
    }
  }

  @Test("a reading that is too old, or none at all: as scheduled, and the log says so")
  func stale() throws {
    var world = try Self.world([MoistureRule(probe: .plant(3), wetPercent: 60, effect: .stop, validSeconds: 599)])
    read(&world, 90)
    let old = "no valid reading of plant 3, the last is of 2026-07-01 05:50: as scheduled"
    expect(&world, Self.asScheduled, why: [old, old])

    var none = try Self.world([MoistureRule(probe: .plant(3), wetPercent: 60, effect: .skip)])
    read(&none, 90, plant: 4)
    let missing = "no reading of plant 3 yet: as scheduled"
    expect(&none, Self.asScheduled, why: [missing, missing])
  }

  @Test("delay: the soil must have been wet for so long without a dry reading or a gap", arguments: [true, false])
  func delay(hasGap: Bool) throws {
    var world = try Self.world([
      MoistureRule(
        probe: .plant(3), zones: [Garden.zone(1)], wetPercent: 60, effect: .skip, delaySeconds: 600, validSeconds: 500)
    ])
    read(&world, 70)
    if !hasGap {
      world.run(untilWall: Garden.at(7, 1, 5, 55))
      read(&world, 65)
    }
    world.run(untilWall: Garden.at(7, 1, 5, 59))
    read(&world, 70)
    #expect(world.scheduler.soilStatus.map(\.word) == [.waits])
    world.run(untilWall: Garden.at(7, 1, 7))
    #expect(world.log.first { $0.zone == Garden.zone(1) }?.outcome == (hasGap ? .completed : .wetSoil))
  }

  @Test("two rules for a zone: the stronger effect counts; a missing reading beside it is not said")
  func strongest() throws {
    var world = try Self.world(
      [
        MoistureRule(probe: .plant(9), wetPercent: 60, effect: .stop),
        MoistureRule(probe: .plant(3), wetPercent: 40, effect: .shorten(percent: 80)),
        MoistureRule(probe: .plant(3), wetPercent: 50, effect: .shorten(percent: 20)),
        MoistureRule(probe: .plant(3), wetPercent: 60, effect: .shorten(percent: 50)),
      ], steps: [(1, 600)])
    read(&world, 55)
    expect(
      &world, ["1: 120 s completed 2026-07-01 06:00:00"],
      why: ["plant 3 read 55 % at 2026-07-01 05:50, wet from 50 % on: watered for 20 % of the time"])
  }

  @Test("preview: what the soil changes while its reading will be valid, and nothing of the days after")
  func preview() throws {
    var world = try Self.world(
      [MoistureRule(probe: .plant(3), wetPercent: 60, effect: .skip, validSeconds: 3_600)], steps: [(1, 600)])
    read(&world, 60)
    let starts = world.scheduler.preview(after: world.wall, count: 2).starts
    #expect(starts.map { $0.runs.map(\.skipped) } == [[.wetSoil], [nil]])
    #expect(
      starts.map { $0.runs.map(\.why) } == [["plant 3 read 60 % at 2026-07-01 05:50, wet from 60 % on"], [nil]])
    #expect(world.scheduler.nextStart(after: world.wall)?.at == Garden.at(7, 2, 6))
  }

  @Test("a reading that is no number, or older than the last: not taken")
  func unusable() throws {
    var world = try Self.world([MoistureRule(probe: .plant(3), wetPercent: 60, effect: .skip)], steps: [(1, 600)])
    read(&world, 30)
    read(&world, .nan)
    read(&world, 90, age: 30)
    read(&world, 90, age: .infinity)
    #expect(world.scheduler.soilStatus.map(\.percent) == [30])
    expect(&world, ["1: 600 s completed 2026-07-01 06:00:00"], why: [nil])
  }

  @Test("other rules of a reloaded file: those of the soil stay until the next start")
  func reloaded() throws {
    var world = try Self.world([])
    var settings = Garden.settings
    settings.moisture = [MoistureRule(probe: .plant(3), wetPercent: 60, effect: .skip)]
    world.apply(settings)
    read(&world, 70)
    #expect(world.scheduler.soilStatus.isEmpty)
    expect(&world, Self.asScheduled, why: [nil, nil])
  }

  @Test("a topic and a pin: the log says which; each probe is its own, with its own readings")
  func otherProbes() throws {
    let topic = SoilProbe.topic(SoilTopic(name: "garden/lawn", member: "moisture"))
    var world = try Self.world([
      MoistureRule(probe: topic, zones: [Garden.zone(1)], wetPercent: 60, effect: .skip),
      MoistureRule(probe: .pin(23), zones: [Garden.zone(2)], wetPercent: 60, effect: .shorten(percent: 50)),
    ])
    world.moisten([
      MoistureReading(probe: topic, percent: 61), MoistureReading(probe: .pin(23), percent: 100),
      MoistureReading(probe: .topic(SoilTopic(name: "garden/lawn")), percent: 10),
      MoistureReading(probe: .plant(23), percent: 0),
    ])
    #expect(world.scheduler.soilStatus.map(\.word) == [.wet, .wet])
    expect(
      &world, ["1: 0 s wetSoil 2026-07-01 06:00:00", "2: 300 s completed 2026-07-01 06:00:00"],
      why: [
        "topic garden/lawn (moisture) read 61 % at 2026-07-01 05:50, wet from 60 % on",
        "pin 23 read wet at 2026-07-01 05:50: watered for 50 % of the time",
      ])
  }

  @Test("a topic and a pin that say nothing any more, or never did: as scheduled, and the log says so")
  func silentProbes() throws {
    var world = try Self.world([
      MoistureRule(
        probe: .topic(SoilTopic(name: "a/b")), zones: [Garden.zone(1)], wetPercent: 60, effect: .stop, validSeconds: 300
      ),
      MoistureRule(probe: .pin(23), zones: [Garden.zone(2)], wetPercent: 60, effect: .skip),
    ])
    world.moisten([MoistureReading(probe: .topic(SoilTopic(name: "a/b")), percent: 100)])
    expect(
      &world, Self.asScheduled,
      why: [
        "no valid reading of topic a/b, the last is of 2026-07-01 05:50: as scheduled",
        "no reading of pin 23 yet: as scheduled",
      ])
  }
}
