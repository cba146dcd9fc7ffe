import Tactus
import TestSupport
import Testing
import WallTime

@testable import Sprinkler

@Suite("The schedule over power cuts", .ownThread)
struct SchedulerPowerTests {
  private func words(_ world: borrowing ScheduleSimulation) -> [String] { world.log.map(\.words) }

  private func finish(_ world: inout ScheduleSimulation) {
    world.settle()
    #expect(world.checks.failures.isEmpty, "\(world.checks.failures)")
  }

  @Test("a power cut in a run: what ran is logged, the rest follows, and what waited waits again")
  func resume() throws {
    var world = try Garden.world([Garden.program(1)], at: Garden.at(7, 1, 5))
    world.run(untilWall: Garden.at(7, 1, 6, 4, 30))
    world.powerCut(for: .seconds(330))
    world.run(untilWall: Garden.at(7, 1, 12))
    // Noted every minute: 240 s are known to have run, and up to the next note nobody knows.
    #expect(
      words(world) == [
        "1: 302 s powerCut 2026-07-01 06:00:00", "1: 298 s completed 2026-07-01 06:10:00",
        "2: 600 s completed 2026-07-01 06:14:58",
      ])
    #expect(world.stored.pending.isEmpty)
    finish(&world)
  }

  @Test("a power cut with the policy to close, or an outage too long: everything is logged and gone")
  func close() throws {
    for (policy, outage) in [(SchedulerSettings.AfterPowerCut.close, 10), (.resume, 8_000)] {
      var settings = Garden.settings
      settings.afterPowerCut = policy
      var world = try Garden.world([Garden.program(1)], at: Garden.at(7, 1, 5), settings: settings)
      world.run(untilWall: Garden.at(7, 1, 6, 4, 30))
      world.powerCut(for: .seconds(Int64(outage)))
      world.run(untilWall: Garden.at(7, 1, 12))
      #expect(
        words(world) == ["1: 302 s powerCut 2026-07-01 06:00:00", "2: 0 s powerCut 2026-07-01 06:00:00"])
      finish(&world)
    }
  }

  @Test("it rains when the power comes back: a program's run is logged as suppressed, one by hand resumes")
  func resumeInRain() throws {
    for byHand in [true, false] {
      var world = try Garden.world([Garden.program(1, steps: [(1, 600)])], at: Garden.at(7, 1, 5, 55))
      if byHand { world.ask(.zoneOn(Garden.zone(3), seconds: 900)) }
      world.run(untilWall: Garden.at(7, 1, 6, byHand ? 1 : 4))
      var records = world.stored
      records.rainDelay = RainDelay(until: Garden.at(7, 2, 0), reason: .manual)
      for index in records.pending.indices { records.pending[index].boot = BootID("the one before") }
      var after = try Garden.world([], at: Garden.at(7, 1, 6, 5)) { $0 = records }
      after.run(untilWall: Garden.at(7, 1, 12))
      #expect(after.log.map(\.outcome).filter { $0 == .completed }.count == (byHand ? 1 : 0))
      #expect(after.log.contains { $0.outcome == .rainDelay && $0.zone == Garden.zone(1) })
    }
  }

  @Test("an earlier state of the records: what it leaves to do is logged and not done, and it is said")
  func recoveredQueue() throws {
    var world = try Garden.world([Garden.program(1)], at: Garden.at(7, 1, 5))
    world.run(untilWall: Garden.at(7, 1, 6, 4, 30))
    for isRecovered in [true, false] {
      var scheduler = SprinklerScheduler(
        world.stored, settings: Garden.settings, boot: BootID("another"), isRecovered: isRecovered)
      let effects = scheduler.step(.started, wall: Garden.at(7, 1, 6, 5), monotonic: .zero)
      #expect(runs(effects) == (isRecovered ? 0 : 2))
      #expect(scheduler.records.pending.count == (isRecovered ? 0 : 2))
      #expect(logged(effects).map(\.outcome) == (isRecovered ? [.powerCut, .powerCut] : [.powerCut]))
      #expect(effects.notices.contains(.queueNotResumed(runs: [1, 2])) == isRecovered)
    }
  }

  @Test("an earlier state of the records: a start before now is logged as missed, not made up for; the next day's runs")
  func recoveredStart() throws {
    var world = try Garden.world([Garden.program(1)], at: Garden.at(7, 1, 5))
    world.run(untilWall: Garden.at(7, 1, 5, 59))
    for isRecovered in [true, false] {
      var scheduler = SprinklerScheduler(
        world.stored, settings: Garden.settings, boot: BootID("another"), isRecovered: isRecovered)
      _ = scheduler.step(.started, wall: Garden.at(7, 1, 6, 2), monotonic: .zero)
      // By then the clock is believed.
      let late = scheduler.step(.timePassed, wall: Garden.at(7, 1, 6, 2, 40), monotonic: .zero + .seconds(40))
      #expect(runs(late) == (isRecovered ? 0 : 2))
      #expect(logged(late).map(\.outcome) == (isRecovered ? [.missed, .missed] : []))
      let next = scheduler.step(
        .timePassed, wall: Garden.at(7, 2, 6), monotonic: .zero + .seconds(Int64(86_400 - 120)))
      #expect(runs(next) == 2)
    }
  }

  private func runs(_ effects: SprinklerEffects) -> Int {
    effects.orders.count { if case .run = $0 { true } else { false } }
  }

  private func logged(_ effects: SprinklerEffects) -> [WateringRecord] {
    effects.changes.compactMap { if case .log(let record) = $0 { record } else { nil } }
  }

  @Test("a list next, then a power cut: it keeps its place before what waited")
  func runNextKept() throws {
    var world = try Garden.world([Garden.program(1)], at: Garden.at(7, 1, 5, 59))
    world.run(untilWall: Garden.at(7, 1, 6, 1))
    world.ask(.runOnce([Program.Step(zone: Garden.zone(6), seconds: 60)]))
    world.ask(.runNext([4, 5].map { Program.Step(zone: Garden.zone($0), seconds: 60) }))
    world.ask(.runNext([Program.Step(zone: Garden.zone(3), seconds: 60)]))
    #expect(world.stored.pending.map(\.zone.number) == [1, 3, 4, 5, 2, 6])
    world.powerCut(for: .seconds(60))
    world.run(untilWall: Garden.at(7, 1, 12))
    #expect(world.log.map(\.zone.number) == [1, 1, 3, 4, 5, 2, 6])
    #expect(world.stored == world.scheduler.records && world.checks.failures.isEmpty)
  }

  @Test(
    "an orderly restart in a run: the part is logged as shut down, and the rest does not follow; after a reboot it does"
  )
  func restart() throws {
    var world = try Garden.world([Garden.program(1)], at: Garden.at(7, 1, 5))
    world.run(untilWall: Garden.at(7, 1, 6, 4, 30))
    world.restart(after: .seconds(30))
    world.run(untilWall: Garden.at(7, 1, 12))
    #expect(
      words(world)
        == [
          "1: 270 s shutdown 2026-07-01 06:00:00", "1: 0 s shutdown 2026-07-01 06:00:00",
          "2: 0 s shutdown 2026-07-01 06:00:00",
        ])
    finish(&world)

    world = try Garden.world([Garden.program(1)], at: Garden.at(7, 1, 5))
    world.run(untilWall: Garden.at(7, 1, 6, 4, 30))
    world.restart(after: .seconds(30), isReboot: true)
    world.run(untilWall: Garden.at(7, 1, 12))
    #expect(
      words(world)
        == [
          "1: 270 s shutdown 2026-07-01 06:00:00", "1: 330 s completed 2026-07-01 06:05:00",
          "2: 600 s completed 2026-07-01 06:10:30",
        ])
    finish(&world)
  }

  @Test("killed in a run: it is charged with the boot clock's time since it opened, and nothing follows")
  func killed() throws {
    var world = try Garden.world([Garden.program(1)], at: Garden.at(7, 1, 5))
    world.run(untilWall: Garden.at(7, 1, 6, 4, 30))
    world.kill(for: .seconds(9))
    world.run(untilWall: Garden.at(7, 1, 12))
    #expect(words(world) == ["1: 279 s crash 2026-07-01 06:00:00", "2: 0 s crash 2026-07-01 06:00:00"])
    #expect(
      world.notices.contains {
        if case .interrupted(_, _, .crash, 279, 321, false) = $0.notice { true } else { false }
      })
    finish(&world)
  }

  @Test("killed in a run, and the guard noted when it closed the valve: charged up to then, and nothing follows")
  func killedAndNoted() throws {
    var world = try Garden.world([Garden.program(1)], at: Garden.at(7, 1, 5))
    world.run(untilWall: Garden.at(7, 1, 6, 4, 30))
    let open = try #require(world.stored.pending.first { $0.openSince != nil })
    let since = try #require(open.openSince)
    func start(_ closed: Double...) -> [WateringRecord] {
      var scheduler = SprinklerScheduler(
        world.stored, settings: Garden.settings, boot: open.boot, valvesClosed: closed.map { .zero + .seconds($0) })
      let effects = scheduler.step(.started, wall: Garden.at(7, 1, 7), monotonic: .zero + .seconds(since + 3_000))
      #expect(runs(effects) == 0)
      return logged(effects)
    }
    let noted = start(since + 4)
    #expect(noted.first?.outcome == .crash && noted.first?.ranSeconds == open.ranSeconds + 4)
    #expect(start().first?.ranSeconds == 600, "nobody knows: up to now")
    #expect(start(since - 5, since + 4).first?.ranSeconds == open.ranSeconds + 4, "closed before it opened, and again")
    #expect(start(since - 5).first?.ranSeconds == 600, "closed before it opened: nobody knows")
  }

  @Test("progress that is old when it is noted, and the valve was closed since: the run is charged up to then")
  func oldProgress() throws {
    var world = try Garden.world([Garden.program(1)], at: Garden.at(7, 1, 5))
    world.run(untilWall: Garden.at(7, 1, 6, 4, 30))
    let open = try #require(world.stored.pending.first { $0.openSince != nil })
    let since = try #require(open.openSince)
    func start(age: Double, closed: Double) throws -> WateringRecord? {
      var hung = SprinklerScheduler(world.stored, settings: Garden.settings, boot: open.boot)
      // What the loop said at `since + 10`, noted when it had hung for so long.
      let progress = RunProgress(run: open.run, ranSeconds: open.ranSeconds + 10, ageSeconds: age)
      hung.bootSeconds = since + 10 + age
      hung.note([progress])
      var next = SprinklerScheduler(
        hung.records, settings: Garden.settings, boot: open.boot, valvesClosed: [.zero + .seconds(since + closed)])
      return logged(next.step(.started, wall: Garden.at(7, 1, 7), monotonic: .zero + .seconds(since + 3_000))).first
    }
    #expect(try start(age: 5, closed: 11)?.ranSeconds == open.ranSeconds + 11)
    #expect(try start(age: 0, closed: 11)?.ranSeconds == open.ranSeconds + 11)
  }

  @Test("killed in a pause, long after it began: the run is charged with what it ran, the pause not counted")
  func killedInPause() throws {
    var world = try Garden.world([Garden.program(1, steps: [(1, 600)])], at: Garden.at(7, 1, 5))
    world.run(untilWall: Garden.at(7, 1, 6, 2, 30))
    world.ask(.pause(seconds: 3_600))
    world.run(untilWall: Garden.at(7, 1, 6, 30))
    world.kill(for: .seconds(5))
    world.run(untilWall: Garden.at(7, 1, 12))
    #expect(words(world) == ["1: 150 s crash 2026-07-01 06:00:00"])
    finish(&world)
  }

  @Test("no boot is known: what the last process left is not resumed")
  func unknownBoot() throws {
    var world = try Garden.world([Garden.program(1)], at: Garden.at(7, 1, 5))
    world.run(untilWall: Garden.at(7, 1, 6, 4, 30))
    var scheduler = SprinklerScheduler(world.stored, settings: Garden.settings, boot: nil)
    let effects = scheduler.step(.started, wall: Garden.at(7, 1, 6, 5), monotonic: .zero)
    #expect(runs(effects) == 0 && logged(effects).map(\.outcome) == [.crash, .crash])
  }

  @Test(
    "200 random crash loops: no run is open for longer than was asked, no zone past its day's limit, nothing uncharged")
  func crashLoops() throws {
    for seed in UInt64(1)...200 {
      var random = SplitMix64(seed: seed)
      let limit = 600 + Int(random.below(900))
      let zones = Garden.zones { $0.maximumSecondsPerDay = limit }
      let asked = 60 + Int(random.below(900))
      var world = try Garden.world([Garden.program(1, steps: [(1, asked)])], at: Garden.at(7, 1, 5), zones: zones)
      var flowed = 0.0
      for day in 1...3 {
        var planned = asked
        world.run(untilWall: Garden.at(7, day, 6, 0, Int(random.below(30))))
        if random.below(2) == 0 {
          let seconds = 30 + Int(random.below(600))
          if world.ask(.zoneOn(Garden.zone(1), seconds: seconds)).refusal == nil { planned += seconds }
        }
        // Deaths seconds apart: most of them before anything is noted.
        for _ in 0..<(1 + random.below(40)) {
          world.run(for: .milliseconds(Int64(random.below(12_000))))
          switch random.below(6) {
          case 0: world.restart(after: .seconds(Int64(1 + random.below(20))), isReboot: random.below(2) == 0)
          case 1...2: world.kill(for: .milliseconds(Int64(1 + random.below(20_000))))
          case 3: world.ask(.pause(seconds: 1 + Int(random.below(60))))
          default: world.powerCut(for: .seconds(Int64(1 + random.below(60))))
          }
        }
        world.run(untilWall: Garden.at(7, day + 1, 0))
        let total = (world.checks.flowed[Garden.zone(1)] ?? .zero).inSeconds
        let today = total - flowed
        flowed = total
        #expect(
          today <= Double(min(planned, limit)) + 0.001, "seed \(seed), day \(day): \(today) s of \(planned), \(limit)")
      }
      world.settle()
      #expect(world.checks.failures.isEmpty, "seed \(seed): \(world.checks.failures)")
    }
  }
}
