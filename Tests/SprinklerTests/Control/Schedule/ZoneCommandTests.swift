import Tactus
import TestSupport
import Testing
import WallTime

@testable import Sprinkler

@Suite("What people ask of the zones, and backups", .ownThread)
struct ZoneCommandTests {
  @Test("zones with one value that does not fit: the refusal names the field")
  func zoneValidation() {
    let faults: [(String, (inout [Zone]) -> Void)] = [
      ("zones[1].id", { $0[1].id = Garden.zone(1) }), ("zones[2].name", { $0[2].name = " " }),
      ("zones[0].gpioPin", { $0[0].gpioPin = 2 }), ("zones[0].gpioPin", { $0[0].gpioPin = 16 }),
      ("zones[3].gpioPin", { $0[3].gpioPin = 10 }), ("zones[0].maximumSeconds", { $0[0].maximumSeconds = 0 }),
      ("zones[0].defaultSeconds", { $0[0].defaultSeconds = 7_201 }),
      ("zones[0].maximumSecondsPerDay", { $0[0].maximumSecondsPerDay = 0 }), ("zones[0].group", { $0[0].group = 16 }),
      ("zones", { $0.removeFirst() }),
    ]
    var scheduler = Garden.scheduler([Garden.program(1)])
    for (field, change) in faults {
      var zones = Garden.zones()
      change(&zones)
      guard case .invalid(field, _, _)? = Garden.ask(&scheduler, .setZones(zones)).refusal else {
        Issue.record("taken: \(field)")
        continue
      }
    }
    #expect(scheduler.records.zones == Garden.zones())
  }

  @Test("a name that nobody may give now is kept where it is stored or a backup has it, and refused where it is given")
  func oldNames() throws {
    let old = "Law\u{202E}n"
    var program = Garden.program(1)
    program.name = String(repeating: "a" + String(repeating: "\u{301}", count: 1_050), count: 60)
    var records = Garden.records([program])
    records.zones[0].name = old
    var zones = records.zones
    zones[1].name = "Beds"
    let file = SprinklerFile(zones: [zones[1]], seasonalPercent: 100)
    // The start takes the file's change beside the old name.
    var last = file
    last.zones[0].name = "Other"
    _ = try records.merge(file, since: last, pins: zones.map(\.gpioPin), masterPin: nil)
    #expect(records.zones[0].name == old && records.zones[1].name == "Beds")

    var scheduler = Garden.scheduler([program])
    var changed = program
    changed.priority = 7
    #expect(Garden.ask(&scheduler, .replaceProgram(changed)).refusal == nil)
    #expect(
      Garden.ask(&scheduler, .addProgram(program)).refusal
        == .invalid(
          field: "name", expected: "text of 1…60 characters that are seen, at most 240 bytes", got: "126060 bytes"))
    changed.alias = old
    guard case .invalid("alias", _, "U+202E")? = Garden.ask(&scheduler, .replaceProgram(changed)).refusal else {
      Issue.record("taken")
      return
    }
    // A backup's are those of a store: they may be older than the rule, too.
    var backup = Garden.records([program])
    backup.zones[0].name = old
    backup.programs[0].alias = old
    #expect(Garden.ask(&scheduler, .restore(backup)).refusal == nil)
    #expect(scheduler.records.zones == backup.zones && scheduler.records.programs == backup.programs)
  }

  @Test("two zones swap their lines while one is open: it closes, both let go, both take")
  func swap() throws {
    var world = try Garden.world([], at: Garden.start)
    world.ask(.zoneOn(Garden.zone(1), seconds: 600))
    world.run(for: .seconds(60))
    var zones = Garden.zones()
    (zones[0].gpioPin, zones[1].gpioPin) = (zones[1].gpioPin, zones[0].gpioPin)
    let effects = world.ask(.setZones(zones))
    #expect(effects.orders.count == 6)
    world.ask(.zoneOn(Garden.zone(2), seconds: 60))
    world.run(for: .seconds(120))
    #expect(world.log.map { "\($0.zone) \($0.ranSeconds) \($0.outcome)" } == ["1 60.0 stopped", "2 60.0 completed"])
    world.settle()
    #expect(world.checks.failures.isEmpty)
  }

  @Test("a zone is disabled while it runs: it closes, what waits for it goes")
  func disable() throws {
    var world = try Garden.world([Garden.program(1, steps: [(1, 600), (2, 60), (1, 60)])], at: Garden.at(7, 1, 5, 59))
    world.run(untilWall: Garden.at(7, 1, 6, 5))
    world.ask(.setZones(Garden.zones { if $0.id == Garden.zone(1) { $0.isEnabled = false } }))
    world.run(untilWall: Garden.at(7, 1, 12))
    #expect(world.log.map(\.ranSeconds).sorted() == [0, 60, 300])
    world.settle()
    #expect(world.checks.failures.isEmpty)
  }

  @Test("a backup: zones, programs and levels are its, what was started and run stays")
  func restore() throws {
    var world = try Garden.world([Garden.program(1, steps: [(1, 600)])], at: Garden.at(7, 1, 5, 59))
    world.run(untilWall: Garden.at(7, 1, 6, 5))
    var backup = Garden.records([
      Garden.program(1, starts: [.clock(minute: 360), .clock(minute: 400)]), Garden.program(8),
    ])
    backup.levels.seasonalPercent = 50
    #expect(world.ask(.restore(backup)).refusal == nil)
    world.run(untilWall: Garden.at(7, 1, 12))
    // Program 1 of 06:00 was started today; 8's 06:00 is past.
    #expect(world.log.map { "\($0.program!) \($0.ranSeconds)" } == ["1 300.0", "1 300.0", "1 300.0"])
    #expect(world.stored.nextProgram == 9)
    // What the backup says was started counts, and of two rain delays the later one.
    backup.startKeys = [
      StartKey(program: 8, start: .clock(minute: 780), date: LocalDate(year: 2026, month: 7, day: 1))
    ]
    backup.programs[1].starts = [.clock(minute: 780)]
    backup.rainDelay = RainDelay(until: Garden.at(7, 3, 5), reason: .manual)
    world.ask(.setRainDelay(seconds: 86_400))
    #expect(world.ask(.restore(backup)).refusal == nil)
    #expect(world.stored.rainDelay?.until == backup.rainDelay?.until && world.stored == world.scheduler.records)
    backup.rainDelay = nil
    #expect(world.ask(.restore(backup)).refusal == nil && world.stored.rainDelay != nil)
    world.run(untilWall: Garden.at(7, 1, 14))
    #expect(world.log.count == 3, "neither run again nor logged as suppressed")
    backup.programs[1].id = 1
    guard case .invalid("programs[1].id", _, _)? = world.ask(.restore(backup)).refusal else {
      Issue.record("taken")
      return
    }
    backup.programs[1].id = 8
    backup.nextRun = .max
    guard case .invalid("nextRun", _, _)? = world.ask(.restore(backup)).refusal else {
      Issue.record("a number that overflows was taken")
      return
    }
  }
}
