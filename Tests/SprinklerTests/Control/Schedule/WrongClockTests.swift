import Tactus
import TestSupport
import Testing
import WallTime

@testable import Sprinkler

@Suite("The schedule by a clock that is wrong", .ownThread)
struct WrongClockTests {
  private static let day: Int64 = 86_400
  private static let daily = Garden.program(1, steps: [(1, 60)])

  private func words(_ world: borrowing ScheduleSimulation) -> [String] { world.log.map(\.words) }

  private func finish(_ world: inout ScheduleSimulation) {
    world.settle()
    #expect(world.checks.failures.isEmpty, "\(world.checks.failures)")
  }

  /// A world whose clock is wrong by so much when the program starts, and that nothing keeps.
  private func world(
    wrongBy seconds: Int64, at start: WallInstant = Garden.at(7, 1, 5),
    _ change: (inout SprinklerRecords) -> Void = { _ in }
  ) throws -> ScheduleSimulation {
    var world = try Garden.world([Self.daily], at: start + seconds) {
      $0.seen = start - 3_600
      change(&$0)
    }
    world.isClockSynchronised = false
    return world
  }

  /// Lets time pass until the rain delay is over; for how long that was, s, at most so many.
  private func lasts(_ world: inout ScheduleSimulation, most: Int64) -> Int64 {
    for second in 0..<most {
      if world.stored.rainDelay == nil { return second }
      world.run(for: .seconds(1))
    }
    return most
  }

  // MARK: rain delays

  @Test(
    "a rain delay of an hour, the clock years ahead or weeks behind when it is set: an hour",
    arguments: [
      10 * 365 * day, -40 * day, 3_600, -3_600, 30, -30,
    ])
  func delay(wrongBy wrong: Int64) throws {
    var world = try world(wrongBy: wrong)
    world.run(for: .seconds(100))
    world.ask(.setRainDelay(seconds: 3_600))
    #expect(world.stored.rainDelay?.until == world.wall + 3_600)
    world.run(for: .seconds(3))
    world.stepClock(by: -wrong)
    #expect(world.stored.rainDelay.map { abs($0.until - world.wall - 3_597) <= 1 } ?? false)
    #expect((3_596...3_598).contains(lasts(&world, most: 5_000)))
  }

  @Test("the longest rain delay: never more than 336 h from now, whatever the clock does")
  func longest() throws {
    var world = try world(wrongBy: 0)
    world.ask(.setRainDelay(seconds: SprinklerScheduler.longestRainDelay))
    for step in [366 * Self.day, -400 * Self.day, 34 * Self.day, 3_600, -3_600] {
      world.stepClock(by: step)
      let left = try #require(world.stored.rainDelay).until - world.wall
      #expect((1_209_000...1_209_601).contains(left))
      world.run(for: .seconds(60))
    }
    world.run(for: .seconds(Int64(SprinklerScheduler.longestRainDelay) - 302))
    #expect(world.stored.rainDelay != nil)
    world.run(for: .seconds(4))
    #expect(world.stored.rainDelay == nil)
  }

  @Test("the power fails in a rain delay: what was left follows; the time off counts if the clock is kept")
  func delayOverPowerCut() throws {
    for isKept in [true, false] {
      var world = try world(wrongBy: 0)
      world.isClockSynchronised = isKept
      world.ask(.setRainDelay(seconds: 86_400))
      world.run(for: .seconds(3_600))
      world.powerCut(for: .seconds(7_200), clockLoss: isKept ? 0 : 30 * Self.day)
      let left = lasts(&world, most: 90_000)
      let expected: Int64 = isKept ? 86_400 - 10_800 : 86_400 - 3_600
      #expect((expected...expected + 601).contains(left), "\(left)")
    }
  }

  @Test("a delay as older versions kept it: as long as it says once the clock is confirmed, 336 h at most")
  func migration() throws {
    for (until, expected) in [(3_600, 3_600), (8_782 * 3_600, 336 * 3_600), (-10, nil)] as [(Int64, Int64?)] {
      var world = try world(wrongBy: 0) {
        $0.rainDelay = RainDelay(until: Garden.at(7, 1, 5) + until, reason: .manual)
      }
      world.run(for: .seconds(20))
      #expect(world.stored.rainDelay != nil)
      world.run(for: .seconds(300))
      // The clock is confirmed five minutes after the boot.
      let left = world.stored.rainDelay.map { $0.until - world.wall }
      #expect(left == expected.map { $0 == 3_600 ? 3_280 : $0 - 20 })
    }
  }

  // MARK: starts

  @Test(
    "the clock is two days ahead for 36 s when the program starts: both days are watered", arguments: [true, false])
  func aheadAtStart(isKept: Bool) throws {
    var world = try world(wrongBy: 2 * Self.day)
    world.isClockSynchronised = isKept
    world.run(for: .seconds(36))
    world.stepClock(by: -2 * Self.day)
    world.run(untilWall: Garden.at(7, 2, 12))
    #expect(
      words(world).filter { $0.contains("completed") } == [
        "1: 60 s completed 2026-07-01 06:00:00", "1: 60 s completed 2026-07-02 06:00:00",
      ])
    #expect(!world.log.contains { $0.outcome == .missed })
    finish(&world)
  }

  @Test("the clock is two days ahead for an hour: what it called missed is corrected, and runs at its time")
  func aheadForAnHour() throws {
    var world = try world(wrongBy: 2 * Self.day)
    world.run(for: .seconds(1_800))
    #expect(world.log.map(\.outcome) == [.missed, .missed])
    world.powerCut(for: .seconds(10))
    world.run(for: .seconds(400))
    world.stepClock(by: -2 * Self.day)
    world.run(untilWall: Garden.at(7, 2, 12))
    #expect(
      words(world) == [
        "1: 0 s wrongClock 2026-07-01 06:00:00", "1: 0 s wrongClock 2026-07-02 06:00:00",
        "1: 60 s completed 2026-07-01 06:00:00", "1: 60 s completed 2026-07-02 06:00:00",
      ])
    #expect(world.notices.contains { if case .startTakenBack = $0.notice { true } else { false } })
    #expect(world.stored == world.scheduler.records && world.stored.suppressed.isEmpty)
    finish(&world)
  }

  @Test("called missed by a clock that was a quarter of an hour ahead: it runs once the right one is confirmed")
  func quarterAhead() throws {
    var world = try world(wrongBy: 15 * 60, at: Garden.at(7, 1, 6) - 100)
    world.isClockSynchronised = true
    world.run(for: .seconds(140))
    #expect(world.log.map(\.outcome) == [.missed])
    world.stepClock(by: -15 * 60)
    world.run(for: .seconds(300))
    #expect(words(world) == ["1: 0 s wrongClock 2026-07-01 06:00:00", "1: 60 s completed 2026-07-01 06:01:10"])
    finish(&world)
  }

  @Test("a start that a clock a day ahead has watered: not again when its day comes")
  func wateredAhead() throws {
    var world = try world(wrongBy: Self.day)
    world.run(for: .seconds(4_000))
    #expect(words(world) == ["1: 0 s missed 2026-07-01 06:00:00", "1: 60 s completed 2026-07-02 06:00:00"])
    world.stepClock(by: -Self.day)
    world.run(untilWall: Garden.at(7, 3, 12))
    #expect(
      words(world) == [
        "1: 0 s missed 2026-07-01 06:00:00", "1: 60 s completed 2026-07-02 06:00:00",
        "1: 60 s completed 2026-07-03 06:00:00",
      ])
    finish(&world)
  }

  @Test("set back by half a minute: a schedule that is added after it starts at its time")
  func halfAMinute() throws {
    var world = try Garden.world([], at: Garden.at(7, 1, 5, 58))
    world.run(untilWall: Garden.at(7, 1, 6, 0, 10))
    // What is dealt with has been noted.
    world.ask(.addProgram(Garden.program(9, starts: [.clock(minute: 420)])))
    world.stepClock(by: -30)
    world.ask(.addProgram(Garden.program(9, steps: [(1, 60)])))
    world.run(untilWall: Garden.at(7, 1, 6, 30))
    #expect(world.log.filter { $0.outcome == .completed }.count == 1)
    finish(&world)
  }

  @Test("a start while the clock is not confirmed: it waits and runs, however short the catch-up window")
  func held() throws {
    var settings = Garden.settings
    settings.catchUpSeconds = 5
    var world = try Garden.world([Self.daily], at: Garden.at(7, 1, 5, 59, 50), settings: settings)
    world.isClockSynchronised = false
    world.run(untilWall: Garden.at(7, 1, 6, 10))
    // The machine has just booted, too.
    #expect(words(world) == ["1: 60 s completed 2026-07-01 06:04:50"])
    #expect(world.notices.first?.notice == .clockBelieved("unconfirmed"))
    #expect(world.notices.contains { $0.notice == .clockBelieved("steady") })
    finish(&world)
  }

  @Test("the first start of all, by a clock years behind: nothing was missed when it is set right")
  func firstStart() throws {
    var world = try Garden.world([Self.daily], at: Garden.at(7, 1, 5) - 3_650 * Self.day)
    world.isClockSynchronised = false
    world.run(for: .seconds(20))
    world.stepClock(by: 3_650 * Self.day)
    world.run(untilWall: Garden.at(7, 1, 12))
    #expect(words(world) == ["1: 60 s completed 2026-07-01 06:00:00"])
    finish(&world)
  }

  @Test("the clock is set while a zone is open: its line has the time that the clock shows then")
  func openRun() throws {
    var world = try world(wrongBy: 0)
    world.ask(.zoneOn(Garden.zone(2), seconds: 600))
    world.run(for: .seconds(60))
    world.stepClock(by: 7_200)
    world.run(for: .seconds(600))
    #expect(words(world).contains("2: 600 s completed 2026-07-01 07:00:00"))
    finish(&world)
  }

  // MARK: limits

  @Test(
    "a day that a wrong clock began: when it is set back, what ran on the right day still counts",
    arguments: [60, 4_000])
  func dayLimit(aheadFor seconds: Int64) throws {
    let zones = Garden.zones { $0.maximumSecondsPerDay = 900 }
    var world = try Garden.world([], at: Garden.at(7, 1, 12), zones: zones)
    world.ask(.zoneOn(Garden.zone(1), seconds: 900))
    world.run(for: .seconds(1_000))
    world.stepClock(by: 3 * Self.day)
    world.run(for: .seconds(seconds))
    world.ask(.zoneOn(Garden.zone(2), seconds: 60))
    world.run(for: .seconds(100))
    world.stepClock(by: -3 * Self.day)
    world.run(for: .seconds(60))
    #expect(world.scheduler.ranToday(Garden.zone(1), at: world.wall) == 900)
    #expect(world.scheduler.ranToday(Garden.zone(2), at: world.wall) == 60)
    #expect(world.ask(.zoneOn(Garden.zone(1), seconds: 60)).refusal == .dayLimit(Garden.zone(1), seconds: 900))
    finish(&world)
  }

  @Test("a restart by a clock days ahead: the limit is not had again before the clock is confirmed")
  func dayLimitAfterRestart() throws {
    let zones = Garden.zones { $0.maximumSecondsPerDay = 900 }
    var world = try Garden.world([], at: Garden.at(7, 1, 12), zones: zones)
    world.ask(.zoneOn(Garden.zone(1), seconds: 900))
    world.run(for: .seconds(1_000))
    world.isClockSynchronised = false
    world.powerCut(for: .seconds(60), clockLoss: -5 * Self.day)
    #expect(world.ask(.zoneOn(Garden.zone(1), seconds: 60)).refusal == .dayLimit(Garden.zone(1), seconds: 900))
    world.run(for: .seconds(301))
    #expect(world.ask(.zoneOn(Garden.zone(1), seconds: 60)).refusal == nil)
  }
}
