import Tactus
import TestSupport
import Testing
import WallTime

@testable import Sprinkler

@Suite("The schedule in the rain", .ownThread)
struct SchedulerRainTests {
  private func words(_ world: borrowing ScheduleSimulation) -> [String] { world.log.map(\.words) }

  private func finish(_ world: inout ScheduleSimulation) {
    world.settle()
    #expect(world.checks.failures.isEmpty, "\(world.checks.failures)")
  }

  @Test("a start during a rain delay: logged as skipped, and not made up for afterwards")
  func rain() throws {
    var world = try Garden.world([Garden.program(1)], at: Garden.at(7, 1, 5))
    world.ask(.setRainDelay(seconds: 3_660))
    world.run(untilWall: Garden.at(7, 1, 12))
    #expect(
      words(world) == ["1: 0 s rainDelay 2026-07-01 06:00:00", "2: 0 s rainDelay 2026-07-01 06:00:00"])
    #expect(world.stored.rainDelay == nil)
    #expect(world.notices.map(\.notice).contains(.rainDelayOver))
    world.run(untilWall: Garden.at(7, 2, 12))
    #expect(world.log.count == 4)
    finish(&world)
  }

  @Test("zones and programs that ignore rain: they run")
  func ignoresRain() throws {
    var other = Garden.program(2, starts: [.clock(minute: 420)], steps: [(3, 60)])
    other.skipsInRain = false
    let zones = Garden.zones { if $0.id == Garden.zone(2) { $0.ignoresRain = true } }
    var world = try Garden.world([Garden.program(1), other], at: Garden.at(7, 1, 5), zones: zones)
    world.ask(.setRainDelay(seconds: 86_400))
    world.run(untilWall: Garden.at(7, 1, 12))
    #expect(
      words(world) == [
        "1: 0 s rainDelay 2026-07-01 06:00:00", "2: 600 s completed 2026-07-01 06:00:00",
        "3: 60 s completed 2026-07-01 07:00:00",
      ])
    finish(&world)
  }

  @Test("rain while a program runs: ended or finished, as configured; what waits is gone", arguments: [true, false])
  func rainDuringRun(endsOpenRuns: Bool) throws {
    var settings = Garden.settings
    settings.rainEndsOpenRuns = endsOpenRuns
    var world = try Garden.world([Garden.program(1)], at: Garden.at(7, 1, 5), settings: settings)
    world.run(untilWall: Garden.at(7, 1, 6, 5))
    world.ask(.setRainDelay(seconds: 7_200))
    world.run(untilWall: Garden.at(7, 1, 12))
    let first =
      endsOpenRuns ? "1: 300 s rainDelay 2026-07-01 06:00:00" : "1: 600 s completed 2026-07-01 06:00:00"
    #expect(Set(words(world)) == [first, "2: 0 s rainDelay 2026-07-01 06:00:00"])
    finish(&world)
  }

  @Test("by hand during rain: allowed, allowed with a warning, or denied")
  func manualInRain() throws {
    for policy in SchedulerSettings.ManualInRain.allCases {
      var settings = Garden.settings
      settings.manualInRain = policy
      var world = try Garden.world([Garden.program(1)], at: Garden.at(7, 1, 5), settings: settings)
      world.ask(.setRainDelay(seconds: 7_200))
      let until = world.wall + 7_200
      for command: SprinklerCommand in [
        .zoneOn(Garden.zone(1), seconds: 60), .runProgram(id: 1),
        .runOnce([Program.Step(zone: Garden.zone(2), seconds: 60)]),
      ] {
        let effects = world.ask(command)
        #expect(effects.refusal == (policy == .deny ? .rainDelay(until: until) : nil))
        #expect(effects.rainWarning?.until == (policy == .warn ? until : nil))
      }
      world.run(untilWall: Garden.at(7, 1, 5, 40))
      #expect(world.log.filter { $0.outcome == .completed }.count == (policy == .deny ? 0 : 4))
      finish(&world)
    }
  }

  @Test("other rules hold from then on: a run by hand is denied, the next rain lets what is open finish")
  func otherRules() throws {
    var world = try Garden.world([Garden.program(1)], at: Garden.at(7, 1, 5))
    var settings = Garden.settings
    settings.manualInRain = .deny
    settings.rainEndsOpenRuns = false
    world.apply(settings)
    world.run(untilWall: Garden.at(7, 1, 6, 5))
    world.ask(.setRainDelay(seconds: 7_200))
    #expect(world.ask(.zoneOn(Garden.zone(1), seconds: 60)).refusal != nil)
    world.run(untilWall: Garden.at(7, 1, 12))
    #expect(
      Set(words(world)) == ["1: 600 s completed 2026-07-01 06:00:00", "2: 0 s rainDelay 2026-07-01 06:00:00"])
    world.apply(Garden.settings)
    world.ask(.setRainDelay(seconds: 7_200))
    #expect(world.ask(.zoneOn(Garden.zone(1), seconds: 60)).refusal == nil)
    finish(&world)
  }

  @Test("other settings: what holds from start to end stays")
  func settingsThatStay() {
    var scheduler = SprinklerScheduler(SprinklerRecords(), settings: Garden.settings)
    let now = Garden.at(7, 1, 5)
    _ = scheduler.step(.started, wall: now, monotonic: .zero)
    var other = SchedulerSettings(
      zone: ZoneRules(identifier: "Etc/Test", firstOffsetSeconds: 3_600, transitions: []), pins: [], masterPin: 3,
      place: GeographicPlace(latitude: 1, longitude: 1), catchUpSeconds: 7, rainEndsOpenRuns: false,
      manualInRain: .deny, afterPowerCut: .close, longestOutageSeconds: 1, queueCapacity: 1)
    other.noteSeconds = 99
    _ = scheduler.step(.settings(other), wall: now, monotonic: .seconds(1))
    var expected = Garden.settings
    (expected.catchUpSeconds, expected.rainEndsOpenRuns) = (7, false)
    (expected.manualInRain, expected.afterPowerCut) = (.deny, .close)
    #expect(scheduler.settings == expected)
  }

  @Test(
    "the forecast is switched off: its delay ends, and it makes none until it is switched on; a person's delay stays")
  func switchedForecast() throws {
    var world = try Garden.world([Garden.program(1)], at: Garden.at(7, 1, 5))
    world.forecast(.rain(seconds: 7_200, reason: "8 mm"))
    #expect(world.stored.rainDelay?.reason == .weather("8 mm"))
    world.ask(.setForecast(isOn: false))
    #expect(world.stored.rainDelay == nil && !world.stored.isForecastOn)
    world.forecast(.rain(seconds: 7_200, reason: "20 mm"))
    #expect(world.stored.rainDelay == nil)
    world.ask(.setForecast(isOn: true))
    world.forecast(.rain(seconds: 7_200, reason: "20 mm"))
    #expect(world.stored.rainDelay?.reason == .weather("20 mm"))
    world.ask(.setRainDelay(seconds: 86_400))
    world.ask(.setForecast(isOn: false))
    #expect(world.stored.rainDelay?.reason == .manual)
    world.run(untilWall: Garden.at(7, 1, 6, 30))
    finish(&world)
  }

  @Test("the forecast: makes a delay with its reason, never shortens a person's, and ends its own")
  func weather() throws {
    var world = try Garden.world([], at: Garden.at(7, 1, 5))
    world.forecast(.rain(seconds: 3_600, reason: "8 mm"))
    #expect(world.stored.rainDelay?.until == world.wall + 3_600)
    #expect(world.stored.rainDelay?.reason == .weather("8 mm"))
    world.forecast(.unknown)
    #expect(world.stored.rainDelay != nil)
    world.forecast(.dry)
    #expect(world.stored.rainDelay == nil)
    world.ask(.setRainDelay(seconds: 7_200))
    world.forecast(.rain(seconds: 3_600, reason: "8 mm"))
    world.forecast(.dry)
    #expect(world.stored.rainDelay?.reason == .manual)
    world.forecast(.rain(seconds: 86_400, reason: "20 mm"))
    #expect(world.stored.rainDelay?.reason == .weather("20 mm"))
    // A person who lifts it is not overruled by the same forecast.
    world.ask(.cancelRainDelay)
    world.forecast(.rain(seconds: 86_400, reason: "20 mm"))
    #expect(world.stored.rainDelay == nil)
    world.run(for: .seconds(Int64(86_401)))
    world.forecast(.rain(seconds: 86_400, reason: "20 mm"))
    #expect(world.stored.rainDelay != nil)
  }
}
