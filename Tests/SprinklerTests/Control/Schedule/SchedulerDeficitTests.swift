import Tactus
import TestSupport
import Testing
import WallTime

@testable import Sprinkler

@Suite("The schedule and the deficits of zones", .ownThread)
struct SchedulerDeficitTests {
  private static let rule = DeficitRule(millimetresPerHour: 12, cropFactor: 1)

  private static func date(_ month: Int, _ day: Int) -> LocalDate { LocalDate(year: 2026, month: month, day: day) }

  /// 5.88 mm evaporate on a day of June, by Hargreaves.
  private static func day(_ month: Int, _ day: Int, rain: Double? = 0, maximum: Double? = 28) -> DayWeather {
    DayWeather(date: date(month, day), minimumCelsius: 12, maximumCelsius: maximum, rainMillimetres: rain)
  }

  private static func world(
    steps: [(Int, Int)] = [(1, 600), (2, 600)], starts: [Int] = [360], _ days: [DayWeather] = []
  ) throws -> ScheduleSimulation {
    var settings = Garden.settings
    settings.deficits = [Garden.zone(1): rule]
    var program = Garden.program(1, starts: starts.map { .clock(minute: $0) }, steps: steps)
    program.adjustment = .deficit
    var world = try Garden.world([program], at: Garden.at(7, 1, 5, 50), settings: settings)
    for day in days { world.report(PastWeather(days: [day], elevationMetres: 40)) }
    return world
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

  private func isNear(_ value: Double?, _ expected: Double) -> Bool {
    value.map { ($0 - expected).magnitude < 0.01 } ?? false
  }

  @Test("a deficit: its zone is watered for it, at most twice its minutes, which is taken off; another as scheduled")
  func waters() throws {
    var world = try Self.world([Self.day(6, 28), Self.day(6, 29), Self.day(6, 30, rain: 2.65)])
    #expect(isNear(world.scheduler.records.deficits.first?.millimetres, 9.11))
    let why = "9.1 mm since Mon 2026-06-29: ET 11.8, rain 2.7, watered 0: at most 20 min"
    let other = "zone 2 has no mm_per_hour: as scheduled"
    #expect(world.scheduler.preview(after: world.wall, count: 1).starts.first?.runs.map(\.why) == [why, other])
    expect(
      &world, ["1: 1200 s completed 2026-07-01 06:00:00", "2: 600 s completed 2026-07-01 06:20:00"], why: [why, other])
    #expect(isNear(world.scheduler.records.deficits.first?.millimetres, 5.11))
    #expect(world.stored.deficits == world.scheduler.records.deficits)
    #expect(
      world.scheduler.deficitStatus.map(\.words) == ["5.1 mm since Mon 2026-06-29: ET 11.8, rain 2.7, watered 4"])
    #expect(
      world.notices.map(\.notice).contains(
        .deficit(
          id: 1, name: "program 1", zone: Garden.zone(1),
          why: "9.1 mm since Mon 2026-06-29: ET 11.8, rain 2.7, watered 0")))
  }

  @Test("a zone that comes twice gets the rest the second time")
  func twice() throws {
    var world = try Self.world(steps: [(1, 600), (1, 600)], [Self.day(6, 28), Self.day(6, 29)])
    world.run(untilWall: Garden.at(7, 1, 7))
    #expect(
      world.log.map(\.words) == ["1: 1200 s completed 2026-07-01 06:00:00", "1: 565 s completed 2026-07-01 06:20:00"])
    #expect(world.scheduler.records.deficits.map { $0.millimetres < 0.01 } == [true])
  }

  @Test("below the limit: not watered, and the log says the deficit; by hand the program waters for its minutes")
  func small() throws {
    var world = try Self.world(steps: [(1, 600)], [Self.day(6, 28), Self.day(6, 29, rain: 3)])
    world.run(untilWall: Garden.at(7, 1, 6, 30))
    #expect(world.scheduler.nextRuns(after: world.wall) == [1: Garden.at(7, 2, 6)])
    world.ask(.runProgram(id: 1))
    expect(
      &world, ["1: 0 s noDeficit 2026-07-01 06:00:00", "1: 600 s completed 2026-07-01 06:30:00"],
      why: ["2.9 mm since Mon 2026-06-29: ET 5.9, rain 3, watered 0: watered from 5 mm on", nil])
  }

  @Test("no weather of the last two days, or none at all: as scheduled, and the log says so")
  func stale() throws {
    let lines = ["1: 600 s completed 2026-07-01 06:00:00"]
    var old = try Self.world(steps: [(1, 600)], [Self.day(6, 27), Self.day(6, 28)])
    #expect(old.scheduler.deficitStatus.map(\.isValid) == [false])
    expect(&old, lines, why: ["no weather after 2026-06-28: as scheduled"])
    var none = try Self.world(steps: [(1, 600)])
    expect(&none, lines, why: ["no weather yet: as scheduled"])
  }

  @Test("what is queued is taken off, in the preview what is planned; beyond the weather's days the minutes are shown")
  func coming() throws {
    var world = try Self.world(
      steps: [(1, 600)], starts: [360, 365], [Self.day(6, 28), Self.day(6, 29), Self.day(6, 30, rain: 2.65)])
    let starts = world.scheduler.preview(after: world.wall, count: 6).starts
    #expect(starts.map { $0.runs.map(\.seconds) } == [[1_200], [1_200], [600], [600], [600], [600]])
    #expect(starts.prefix(3).map { $0.runs.map(\.skipped) } == [[nil], [nil], [.noDeficit]])
    #expect(starts.last?.runs.map(\.why) == ["goes by the deficit of that day"])
    world.run(untilWall: Garden.at(7, 1, 7))
    // 9.11 mm less 4 mm of the first are above the limit of 5 mm.
    #expect(world.log.map(\.words).count == 2)
    #expect(world.log.last?.why?.contains("watered 0, 4 still to come: at most 20 min") == true)
    #expect(isNear(world.scheduler.records.deficits.first?.millimetres, 1.11))
  }

  @Test("the clock jumps years and back, an answer comes again: no day is counted twice, none is lost")
  func jumps() throws {
    var world = try Self.world([Self.day(6, 28), Self.day(6, 29)])
    let before = world.scheduler.records.deficits
    for step: Int64 in [400 * 86_400, -800 * 86_400, 400 * 86_400] {
      world.stepClock(by: step)
      world.report(PastWeather(days: [Self.day(6, 29), Self.day(6, 28)], elevationMetres: 40))
      #expect(world.scheduler.records.deficits == before)
    }
    world.report(PastWeather(days: [Self.day(6, 30), Self.day(6, 29), Self.day(7, 1)]))
    #expect(isNear(world.scheduler.records.deficits.first?.millimetres, 17.62))
    #expect(world.scheduler.records.deficits.first?.through == Self.date(7, 1))
  }

  @Test("days that nobody told: passed over once a later one is known, and said; the deficit ends at its greatest")
  func unknown() throws {
    var world = try Self.world([Self.day(6, 1)])
    world.report(PastWeather(days: [Self.day(6, 2, rain: nil), Self.day(6, 3, maximum: nil)]))
    #expect(world.scheduler.records.deficits.first?.through == Self.date(6, 1))
    world.report(PastWeather(days: (4...9).map { Self.day(6, $0) }))
    #expect(world.scheduler.records.deficits.first?.millimetres == 25)
    #expect(
      world.scheduler.deficitStatus.first?.deficit.map { "\($0.through) \($0.unknownDays)" } == "2026-06-09 2")
    world.report(PastWeather(days: [Self.day(6, 10, rain: 80)]))
    let clear = try #require(world.scheduler.records.deficits.first)
    #expect(clear == ZoneDeficit(zone: Garden.zone(1), through: Self.date(6, 10)))
  }

  @Test("a wrong date of the provider, far ahead: the days go on from its next answer")
  func ahead() throws {
    var world = try Self.world([DayWeather(date: LocalDate(year: 2099, month: 1, day: 1))])
    world.report(PastWeather(days: [Self.day(6, 28)]))
    world.report(PastWeather(days: [Self.day(6, 29)]))
    #expect(isNear(world.scheduler.records.deficits.first?.millimetres, 5.88))
    #expect(world.scheduler.records.deficits.first?.since == Self.date(6, 29))
  }

  @Test("a power cut: the deficit is kept, less what the interrupted run has watered")
  func powerCut() throws {
    var world = try Self.world(steps: [(1, 600)], [Self.day(6, 28), Self.day(6, 29), Self.day(6, 30)])
    world.run(untilWall: Garden.at(7, 1, 6, 5))
    world.powerCut(for: .seconds(60))
    let left = try #require(world.scheduler.records.deficits.first)
    let charged = try #require(world.log.first { $0.outcome == .powerCut }).ranSeconds
    #expect(charged >= 300 && isNear(left.watered, charged / 300) && isNear(left.millimetres, 11.76 - left.watered))
  }

  @Test("dew point, wind and sun: Penman and Monteith, example 18 of FAO-56, 3.88 mm; without the sun Hargreaves")
  func equations() throws {
    let place = GeographicPlace(latitude: 50.8, longitude: 4.35)
    let equations = try #require(Evapotranspiration(place, elevationMetres: 100))
    var day = DayWeather(date: Self.date(7, 6), minimumCelsius: 12.3, maximumCelsius: 21.5, rainMillimetres: 0)
    let byTemperatures = equations.hargreaves(maximumCelsius: 21.5, minimumCelsius: 12.3, dayOfYear: 187)
    // 1.409 kPa of vapour, and 10 km/h of wind at 10 m, which is 2.078 m/s at 2 m.
    (day.dewPointCelsius, day.windMetresPerSecond) = (12.06, 10 / 3.6)
    #expect(equations.millimetres(of: day) == byTemperatures)
    day.sunMegajoules = 22.07
    #expect(isNear(equations.millimetres(of: day), 3.88))
    day.maximumCelsius = nil
    #expect(equations.millimetres(of: day) == nil)
  }
}
