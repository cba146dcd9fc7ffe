import Tactus
import TestSupport
import Testing
import WallTime

@testable import Sprinkler

@Suite("The schedule", .ownThread)
struct SprinklerSchedulerTests {
  private func words(_ world: borrowing ScheduleSimulation) -> [String] { world.log.map(\.words) }

  private func finish(_ world: inout ScheduleSimulation) {
    world.settle()
    #expect(world.checks.failures.isEmpty, "\(world.checks.failures)")
  }

  @Test("a program's time comes: its zones run one after another, and the log says so")
  func runs() throws {
    var world = try Garden.world([Garden.program(1)], at: Garden.at(7, 1, 5))
    world.run(for: .seconds(Int64(26 * 3_600)))
    #expect(
      words(world) == [
        "1: 600 s completed 2026-07-01 06:00:00", "2: 600 s completed 2026-07-01 06:10:00",
        "1: 600 s completed 2026-07-02 06:00:00", "2: 600 s completed 2026-07-02 06:10:00",
      ])
    #expect(world.log.allSatisfy { $0.isScheduled && $0.program == 1 && $0.programName == "program 1" })
    #expect(world.scheduler.ranToday(Garden.zone(1), at: world.wall) == 600)
    #expect(world.stored == world.scheduler.records)
    finish(&world)
  }

  // MARK: the clock

  @Test("spring: a start in the gap runs once, at the gap's end; autumn: a start in the repeated hour runs once")
  func daylightSaving() throws {
    let program = Garden.program(1, starts: [.clock(minute: 150)], steps: [(1, 60)])
    var spring = try Garden.world([program], at: Garden.at(3, 28, 12))
    spring.run(untilWall: Garden.at(3, 30, 12))
    #expect(
      words(spring) == ["1: 60 s completed 2026-03-29 03:00:00", "1: 60 s completed 2026-03-30 02:30:00"])
    var autumn = try Garden.world([program], at: Garden.at(10, 24, 12))
    autumn.run(untilWall: Garden.at(10, 26, 1))
    #expect(autumn.log.map(\.start.secondsSince1970) == [1_792_888_200])
    finish(&spring)
    finish(&autumn)
  }

  @Test("spring: four starts in the gap are one run at the gap's end, as the preview says")
  func startsInTheGap() throws {
    let starts = [0, 15, 30, 45].map { StartTime.clock(minute: 120 + $0) }
    var world = try Garden.world([Garden.program(1, starts: starts, steps: [(1, 60)])], at: Garden.at(3, 28, 12))
    let preview = world.scheduler.preview(after: world.wall, count: 2).starts
    #expect(preview.map(\.at) == [Garden.at(3, 29, 3), Garden.at(3, 30, 2)])
    world.run(untilWall: Garden.at(3, 30, 2, 20))
    #expect(
      words(world) == [
        "1: 60 s completed 2026-03-29 03:00:00", "1: 60 s completed 2026-03-30 02:00:00",
        "1: 60 s completed 2026-03-30 02:15:00",
      ])
    finish(&world)
  }

  @Test("the clock is set back over a start that was: it does not run again")
  func setBack() throws {
    var world = try Garden.world([Garden.program(1, steps: [(1, 60)])], at: Garden.at(7, 1, 5))
    world.run(untilWall: Garden.at(7, 1, 6, 30))
    world.stepClock(by: -3_600)
    world.run(untilWall: Garden.at(7, 1, 12))
    #expect(words(world) == ["1: 60 s completed 2026-07-01 06:00:00"])
    #expect(world.notices.contains { $0.notice == .clockStepped(seconds: -3_600) })
    finish(&world)
  }

  @Test("the clock is set forward over a start, within the catch-up window: it runs; beyond it: missed, never late")
  func setForward() throws {
    for (minutes, expected) in [
      (64, "1: 60 s completed 2026-07-01 06:04:30"), (66, "1: 0 s missed 2026-07-01 06:00:00"),
    ] {
      var world = try Garden.world([Garden.program(1, steps: [(1, 60)])], at: Garden.at(7, 1, 5))
      world.run(for: .seconds(60))
      world.stepClock(by: Int64(minutes - 1) * 60)
      world.run(untilWall: Garden.at(7, 1, 12))
      #expect(words(world) == [expected])
      finish(&world)
    }
  }

  @Test("the clock is wrong for less than the time it takes to be believed: nothing is started, nothing is missed")
  func glitch() throws {
    var world = try Garden.world([Garden.program(1, steps: [(1, 60)])], at: Garden.at(7, 1, 5))
    world.run(for: .seconds(100))
    world.stepClock(by: 400 * 86_400)
    world.run(for: .seconds(20))
    world.stepClock(by: -400 * 86_400)
    world.run(untilWall: Garden.at(7, 1, 12))
    #expect(words(world) == ["1: 60 s completed 2026-07-01 06:00:00"])
    finish(&world)
  }

  @Test("a start that fell into an outage: missed, or made up for within the window")
  func outage() throws {
    var world = try Garden.world([Garden.program(1, steps: [(1, 60)])], at: Garden.at(7, 1, 5, 50))
    world.powerCut(for: .seconds(Int64(13 * 60)))
    world.run(untilWall: Garden.at(7, 2, 5))
    world.powerCut(for: .seconds(Int64(2 * 3_600)))
    world.run(untilWall: Garden.at(7, 2, 12))
    #expect(words(world) == ["1: 60 s completed 2026-07-01 06:03:30", "1: 0 s missed 2026-07-02 06:00:00"])
    finish(&world)
  }

  @Test("a new program, its time just past: it waits for its next")
  func newProgram() throws {
    var world = try Garden.world([], at: Garden.at(7, 1, 5))
    world.run(untilWall: Garden.at(7, 1, 6, 1))
    let effects = world.ask(.addProgram(Garden.program(9)))
    #expect(effects.programs == [1])
    world.powerCut(for: .seconds(10))
    world.run(untilWall: Garden.at(7, 2, 5))
    #expect(world.log.isEmpty)
    world.run(untilWall: Garden.at(7, 2, 7))
    #expect(world.log.count == 2)
    finish(&world)
  }

  @Test("an absence of months: the last seven days' starts are missed, the rest is not looked for")
  func absence() throws {
    var world = try Garden.world([Garden.program(1, steps: [(1, 60)])], at: Garden.at(3, 1, 12))
    world.run(untilWall: Garden.at(3, 2, 12))
    world.powerCut(for: .seconds(Int64(90 * 86_400)))
    world.run(for: .seconds(100))
    #expect(world.log.dropFirst().map(\.outcome) == Array(repeating: .missed, count: 7))
    #expect(world.notices.contains { if case .longAbsence = $0.notice { true } else { false } })
    finish(&world)
  }

  @Test("keys: kept for two weeks, then forgotten")
  func keys() throws {
    var world = try Garden.world([Garden.program(1, steps: [(1, 60)])], at: Garden.at(7, 1, 5))
    world.run(for: .seconds(Int64(40 * 86_400)))
    #expect((14...16).contains(world.stored.startKeys.count))
    #expect(world.stored == world.scheduler.records)
    finish(&world)
  }

  @Test("the clock is months ahead for an hour and set right: today's keys are still there")
  func monthsAhead() throws {
    var world = try Garden.world([Garden.program(1, steps: [(1, 60)])], at: Garden.at(7, 1, 5))
    world.run(untilWall: Garden.at(7, 1, 6, 4))
    world.stepClock(by: 90 * 86_400 + 20_000)
    world.run(for: .seconds(Int64(60)))
    world.stepClock(by: -90 * 86_400 - 20_120)
    world.run(untilWall: Garden.at(7, 1, 12))
    #expect(world.log.filter { $0.outcome == .completed }.count == 1)
    #expect(world.stored.startKeys.contains { $0.date == LocalDate(year: 2026, month: 7, day: 1) })
    finish(&world)
  }

  @Test("nothing due: time passes without an effect")
  func idle() {
    var scheduler = SprinklerScheduler(Garden.records([Garden.program(1)]), settings: Garden.settings)
    _ = scheduler.step(.started, wall: Garden.at(7, 1, 5), monotonic: .zero)
    for second in 1...3_000 {
      let effects = scheduler.step(
        .timePassed, wall: Garden.at(7, 1, 5) + Int64(second), monotonic: .zero + .seconds(Int64(second)))
      #expect(second == 30 ? effects.notices == [.clockBelieved("synchronised")] : effects.isEmpty)
    }
    #expect(scheduler.nextDeadline == Garden.at(7, 1, 6))
  }

  // MARK: what a start comes to

  @Test("seasonal level: scaled, by month, and skipped below 20 % with less than 10 s left")
  func seasonal() throws {
    let program = Garden.program(1, steps: [(1, 600), (2, 40)])
    var monthly = Array(repeating: 100, count: 12)
    monthly[6] = 15
    for (levels, expected) in [
      (SprinklerLevels(seasonalPercent: 150), ["1: 900 s completed", "2: 60 s completed"]),
      (SprinklerLevels(seasonalPercent: 100, monthlyPercent: monthly), ["2: 0 s seasonalLevel", "1: 90 s completed"]),
      (SprinklerLevels(seasonalPercent: 0), ["1: 0 s seasonalLevel", "2: 0 s seasonalLevel"]),
    ] {
      var world = try Garden.world([program], at: Garden.at(7, 1, 5)) { $0.levels = levels }
      world.run(untilWall: Garden.at(7, 1, 12))
      #expect(world.log.map { $0.words.split(separator: " ").prefix(4).joined(separator: " ") } == expected)
      finish(&world)
    }
    var fixed = program
    fixed.followsSeason = false
    var world = try Garden.world([fixed], at: Garden.at(7, 1, 5)) { $0.levels.seasonalPercent = 50 }
    world.run(untilWall: Garden.at(7, 1, 12))
    #expect(world.log.map(\.ranSeconds) == [600, 40])
  }

  @Test("cycle and soak: equal cycles no longer than asked, the others run while one soaks")
  func cycleAndSoak() throws {
    var program = Garden.program(1, steps: [(1, 700), (2, 200)])
    program.cycleAndSoak = Program.CycleAndSoak(cycleSeconds: 300, soakSeconds: 600)
    var world = try Garden.world([program], at: Garden.at(7, 1, 5))
    world.run(untilWall: Garden.at(7, 1, 12))
    #expect(
      words(world) == [
        "1: 234 s completed 2026-07-01 06:00:00", "2: 200 s completed 2026-07-01 06:03:54",
        "1: 233 s completed 2026-07-01 06:13:54", "1: 233 s completed 2026-07-01 06:27:47",
      ])
    finish(&world)
  }

  @Test("a zone that is disabled, one whose pin is not there, one with a shorter longest run: skipped, skipped, cut")
  func limits() throws {
    let zones = Garden.zones {
      if $0.id == Garden.zone(1) { $0.isEnabled = false }
      if $0.id == Garden.zone(2) { $0.gpioPin = 99 }
      if $0.id == Garden.zone(3) { $0.maximumSeconds = 120 }
    }
    let program = Garden.program(1, steps: [(1, 600), (2, 600), (3, 600)])
    var world = try Garden.world([program], at: Garden.at(7, 1, 5), zones: zones)
    let planned = world.scheduler.preview(after: world.wall, count: 1).starts.first?.runs
    #expect(planned?.map(\.why) == [nil, nil, "at most 2 min, the zone's longest run"])
    #expect(planned?.map(\.seconds).last == 120)
    world.run(untilWall: Garden.at(7, 1, 12))
    #expect(
      words(world) == [
        "1: 0 s disabled 2026-07-01 06:00:00", "2: 0 s disabled 2026-07-01 06:00:00",
        "3: 120 s completed 2026-07-01 06:00:00",
      ])
    finish(&world)
  }

  @Test("a day's limit: reached by several runs, kept through a power cut, fresh at local midnight")
  func dayLimit() throws {
    let zones = Garden.zones { $0.maximumSecondsPerDay = 900 }
    let program = Garden.program(
      1, starts: [.clock(minute: 360), .clock(minute: 420), .clock(minute: 480)], steps: [(1, 600)])
    var world = try Garden.world([program], at: Garden.at(7, 1, 5), zones: zones)
    world.run(untilWall: Garden.at(7, 1, 6, 30))
    world.powerCut(for: .seconds(60))
    world.run(untilWall: Garden.at(7, 1, 12))
    #expect(world.log.map(\.ranSeconds) == [600, 300, 0])
    #expect(world.log.map(\.outcome) == [.completed, .dayLimit, .dayLimit])
    let effects = world.ask(.zoneOn(Garden.zone(1), seconds: 60))
    #expect(effects.refusal == .dayLimit(Garden.zone(1), seconds: 900))
    world.run(untilWall: Garden.at(7, 2, 6, 30))
    #expect(world.log.last?.words == "1: 600 s completed 2026-07-02 06:00:00")
    finish(&world)
  }

  @Test("a run over midnight: only what came after it counts for the new day")
  func overMidnight() throws {
    let zones = Garden.zones { $0.maximumSecondsPerDay = 900 }
    let program = Garden.program(1, starts: [.clock(minute: 1_435)], steps: [(1, 600)])
    var world = try Garden.world([program], at: Garden.at(7, 1, 12), zones: zones)
    world.run(untilWall: Garden.at(7, 2, 1))
    #expect(world.log.map(\.words) == ["1: 600 s completed 2026-07-01 23:55:00"])
    #expect(world.scheduler.ranToday(Garden.zone(1), at: world.wall) == 300)
  }

  @Test("the clock is set back over midnight: what ran today still counts")
  func backOverMidnight() throws {
    let zones = Garden.zones { $0.maximumSecondsPerDay = 900 }
    var world = try Garden.world([], at: Garden.at(7, 2, 0, 10), zones: zones)
    world.ask(.zoneOn(Garden.zone(1), seconds: 900))
    world.run(for: .seconds(1_000))
    world.stepClock(by: -7_200)
    world.run(for: .seconds(60))
    #expect(world.scheduler.ranToday(Garden.zone(1), at: world.wall) == 900)
    #expect(world.ask(.zoneOn(Garden.zone(1), seconds: 60)).refusal == .dayLimit(Garden.zone(1), seconds: 900))
  }

  // MARK: overlap

  @Test("two programs at the same instant: the higher priority first, then their order; the second waits")
  func priority() throws {
    var high = Garden.program(3, steps: [(3, 60)])
    high.priority = 5
    let programs = [Garden.program(1, steps: [(1, 60)]), Garden.program(2, steps: [(2, 60)]), high]
    var world = try Garden.world(programs, at: Garden.at(7, 1, 5))
    world.run(untilWall: Garden.at(7, 1, 12))
    #expect(
      words(world) == [
        "3: 60 s completed 2026-07-01 06:00:00", "1: 60 s completed 2026-07-01 06:01:00",
        "2: 60 s completed 2026-07-01 06:02:00",
      ])
    finish(&world)
  }

  @Test("a program that is still at work when its next starts come: one is queued behind it, the third is skipped")
  func overlap() throws {
    let program = Garden.program(
      1, starts: [.clock(minute: 360), .clock(minute: 370), .clock(minute: 380)], steps: [(1, 3_600)])
    var world = try Garden.world([program], at: Garden.at(7, 1, 5))
    world.run(untilWall: Garden.at(7, 1, 12))
    #expect(
      words(world) == [
        "1: 0 s overlap 2026-07-01 06:20:00", "1: 3600 s completed 2026-07-01 06:00:00",
        "1: 3600 s completed 2026-07-01 07:00:00",
      ])
    finish(&world)
  }
}
