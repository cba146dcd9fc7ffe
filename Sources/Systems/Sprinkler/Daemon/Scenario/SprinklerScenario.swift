@_spi(FromOutside) import Conversions
import Sprinkler
import Tactus
import TactusDaemon
import WallTime

/// The world of a sprinkler's scenario: the production scheduler and machine over some days, and the calendar of what
/// happened on them.
final class SprinklerScenario: ScenarioWorld {
  /// A sprinkler, its programs, and the days to simulate.
  struct Setup {
    var from = LocalDate(year: 2026, month: 1, day: 1)
    var days = 365
    var settings = SchedulerSettings(zone: .utc, pins: Array(1...ZoneID.maximum))
    var irrigation: IrrigationSettings
    /// The zones, programs and levels.
    var records = SprinklerRecords()
    var chance = Chance()

    var start: WallInstant { settings.zone.instant(of: from, second: 0) }
    var end: WallInstant { settings.zone.instant(of: from + days, second: 0) }
  }

  /// The numbers of additional events at instants that depend on the seed.
  struct Chance {
    var rainDelays = 0
    var powerCuts = 0
    var clockSteps = 0
    var runsByHand = 0
  }

  /// An event that is not in the file.
  private typealias Own = (at: WallInstant, act: (SprinklerScenario) -> Void)

  static let part: String? = "sprinkler"
  static var standard: Setup {
    do {
      return Setup(irrigation: try IrrigationSettings(lineCount: ZoneID.maximum))
    } catch {
      preconditionFailure("the standard settings are refused: \(error)")
    }
  }
  static func duration(_ setup: Setup) -> Nanoseconds { .seconds(setup.end - setup.start) }
  var timeline: ScenarioTimeline
  private let start: WallInstant
  private var world: ScheduleSimulation
  private var calendar: SprinklerCalendar
  /// The number of notices that are in the calendar.
  private var noted = 0
  /// The events to come that are not in the file, by time.
  private var own: [Own]

  init(_ setup: Setup, seed: UInt64, _ timeline: ScenarioTimeline) {
    (self.timeline, start) = (timeline, setup.start)
    world = ScheduleSimulation(
      setup.records, settings: setup.settings, irrigation: setup.irrigation, start: setup.start)
    calendar = SprinklerCalendar(setup)
    own = Self.events(bySeed: seed, setup)
  }

  var now: TickInstant { world.now }
  /// The present instant by an ideal clock that is always right.
  private var time: WallInstant { start + world.now.nanoseconds / 1_000_000_000 }

  func run(to instant: TickInstant) {
    let end = start + instant.nanoseconds / 1_000_000_000
    while let next = own.first, next.at <= end {
      own.removeFirst()
      advance(to: next.at)
      next.act(self)
    }
    advance(to: end)
  }

  private func advance(to instant: WallInstant) {
    let missing = instant - time
    if missing > 0 { world.run(for: .seconds(missing)) }
    takeNotices()
  }

  /// Adds the scheduler's notices to the calendar, except those that the lines of the log show.
  private func takeNotices() {
    for (at, notice) in world.notices[noted...] {
      switch notice {
      case .interrupted(_, let zone, _, let ran, let left, let isResumed):
        let rest = "\(SprinklerWords.minutes(Double(left))) min left: \(isResumed ? "resumed" : "closed")"
        calendar.note(at, "zone \(zone) was interrupted after \(SprinklerWords.minutes(ran)) min, \(rest)")
      case .longAbsence: calendar.note(at, "away for long: starts further back than a week are not looked for")
      case .startTakenBack(_, let name, let due, _):
        let (date, second) = calendar.zone.local(due)
        calendar.note(at, "\(name) is due again: a wrong clock had written \(date) \(SprinklerWords.time(second)) off")
      case .programStarted, .programSkipped, .rainDelaySet, .rainDelayOver, .clockStepped, .clockBelieved,
        .queueNotResumed:
        break
      case .flowLearnt(let zone, let words): calendar.note(at, "zone \(zone): \(words)")
      case .rainSensor(let word): calendar.note(at, "rain sensor: \(word.rawValue)")
      case .soil(_, _, let zone, let why), .deficit(_, _, let zone, let why): calendar.note(at, "zone \(zone): \(why)")
      }
    }
    noted = world.notices.count
  }

  func finish() {
    takeNotices()
    world.settle()
    calendar.add(world.log)
    calendar.print(timeline.print)
    let checks = world.checks
    let water = checks.flowed.values.reduce(0) { $0 + $1.inSeconds }
    let logged = checks.logged.values.reduce(0, +)
    let lost = checks.lost.values.reduce(0, +)
    // `lost` is never more than 0: an interrupted run is charged with at least what it ran.
    timeline.print(
      "water: \(SprinklerWords.number(water)) s flowed, \(SprinklerWords.number(logged)) s are in the log, "
        + "\(SprinklerWords.number(-lost)) s of them more than interrupted runs ran")
    for failure in checks.failures { timeline.fail(now - .zero, failure) }
    timeline.print(
      "checks: \(checks.looks) looks at valves, limits, starts, rain and accounts, "
        + (checks.failures.isEmpty ? "everything held" : "\(checks.failures.count) did not hold"))
  }

  // MARK: events

  /// Returns the key that states the local time of an event: `2026-03-29 02:30`.
  static func instant(_ setup: Setup) -> ScenarioCompany<Nanoseconds> {
    ScenarioCompany(
      "at",
      ScenarioValue { reader, node, path in
        let parts = (node.scalar?.string ?? "").split(separator: " ")
        guard parts.count == 2, let date = ScheduleWords.date(String(parts[0])),
          case .clock(let minute)? = ScheduleWords.start(String(parts[1]))
        else {
          reader.report(node, path, "expected a local time like 2026-03-29 02:30, got \(FieldReader.describe(node))")
          return nil
        }
        let seconds = setup.settings.zone.instant(of: date, second: minute * 60) - setup.start
        guard seconds >= 0 else {
          reader.report(node, path, "expected a time from \(setup.from) on, got \(FieldReader.describe(node))")
          return nil
        }
        // Bounded to a century, far outside of any scenario.
        return .seconds(min(3_155_760_000, seconds))
      })
  }

  static func events(_ setup: Setup) -> [ScenarioWord<SprinklerScenario>] {
    let whole = ScenarioValue<Int>.integer
    func asks(_ name: String, _ command: ScenarioValue<SprinklerCommand>) -> ScenarioWord<SprinklerScenario> {
      ScenarioWord(name, command) { $0.ask($1) }
    }
    return [
      asks(
        "rain_delay_hours",
        ScenarioValue<Double>.number(0.1...336).map {
          .setRainDelay(seconds: Int(saturating: ($0 * 3_600).rounded()))
        }),
      ScenarioWord("cancel_rain_delay") { $0.ask(.cancelRainDelay) },
      // The hours of a rain delay, and the forecast rain in mm.
      ScenarioWord("forecast", .pair(0...336)) { $0.forecast(hours: $1.0, millimetres: $1.1) },
      ScenarioWord(
        "power_cut_minutes",
        ScenarioValue<Double>.number(0.1...1_000_000).map { Int64(saturating: ($0 * 60).rounded()) },
        with: ScenarioCompany("clock_stands_still", .boolean, or: false)
      ) { (world, seconds, clockStands) in world.cutPower(for: seconds, clockStands: clockStands) },
      ScenarioWord("restart_s", .number(0...86_400)) { $0.restart(after: .seconds($1)) },
      ScenarioWord("clock_step_s", whole(-100_000_000...100_000_000)) { $0.stepClock(by: Int64($1)) },
      asks("run_zone", ScenarioValue<Program.Step>.step.map { .zoneOn($0.zone, seconds: $0.seconds) }),
      asks("run_program", whole(1...Int.max).map { .runProgram(id: $0) }),
      // A plant's number and how moist its soil reads, in %.
      ScenarioWord(
        "soil",
        ScenarioValue<(Double, Double)>.pair(0...999_999).checked { plant, percent in
          guard Int(exactly: plant) == nil || percent > 100 else { return nil }
          return "expected a plant's number and 0…100 %, got \(plant) and \(percent)"
        }
      ) { $0.moisten(.plant(Int(saturating: $1.0)), percent: $1.1) },
      // A topic of the broker and how moist its message says that the soil is, in %.
      ScenarioWord("soil_percent", .number(0...100), with: ScenarioCompany("topic", .text)) {
        (world, percent, topic) in world.moisten(.topic(SoilTopic(name: topic)), percent: percent)
      },
      // A comparator's pin and what it reads.
      ScenarioWord("soil_pin", .word(["dry": 0.0, "wet": 100.0]), with: ScenarioCompany("pin", .integer(0...1023))) {
        (world, percent, pin) in world.moisten(.pin(pin), percent: percent)
      },
      // The lowest and the highest temperature, °C, and the rain, mm, of the day before.
      ScenarioWord(
        "yesterday",
        ScenarioValue<[Double]>.list(.number(-90...2_000)).checked { values in
          guard values.count != 3 || values[0] > values[1] || values[1] > 70 || values[2] < 0 else { return nil }
          return "expected the lowest and the highest temperature and the rain, got \(values)"
        }
      ) { $0.tellYesterday(minimum: $1[0], maximum: $1[1], rain: $1[2]) },
      ScenarioWord("rain_sensor", .word(["dry": .dry, "wet": .wet, "unreadable": .unreadable])) {
        $0.world.senseRain($1)
      },
      ScenarioWord("stop") { $0.ask(.stopAll) },
      asks("pause_minutes", ScenarioValue<Int>.minutes.map { .pause(seconds: $0) }),
      asks("seasonal_percent", whole(0...250).map { .setLevels(SprinklerLevels(seasonalPercent: $0)) }),
      ScenarioWord("emergency_stop") { $0.note("e-stop") { $0.emergencyStop() } },
      ScenarioWord("reset") { $0.note("reset") { $0.reset() } },
    ]
  }

  /// Returns the random events, by time.
  private static func events(bySeed seed: UInt64, _ setup: Setup) -> [Own] {
    var random = SplitMix64(seed: seed)
    let seconds = UInt64(clamping: max(1, setup.end - setup.start))
    var all: [Own] = []
    func add(_ act: @escaping (SprinklerScenario) -> Void) {
      all.append((setup.start + Int64(clamping: random.below(seconds)), act))
    }
    for _ in 0..<setup.chance.rainDelays {
      let hours = 12 + Int(clamping: random.below(5)) * 12
      add { $0.ask(.setRainDelay(seconds: hours * 3_600)) }
    }
    for _ in 0..<setup.chance.powerCuts {
      let minutes = 1 + Int64(clamping: random.below(random.below(4) == 0 ? 600 : 30))
      let clockStands = random.below(3) == 0
      add { $0.cutPower(for: minutes * 60, clockStands: clockStands) }
    }
    for _ in 0..<setup.chance.clockSteps {
      let step = Int64(clamping: random.below(7_200)) - 3_600
      add { $0.stepClock(by: step) }
    }
    for _ in 0..<setup.chance.runsByHand where !setup.records.zones.isEmpty {
      let zone = setup.records.zones[Int(clamping: random.below(UInt64(clamping: setup.records.zones.count)))]
      let longest = min(1_200, zone.maximumSeconds)
      let seconds = 1 + Int(clamping: random.below(UInt64(clamping: longest)))
      add { $0.ask(.zoneOn(zone.id, seconds: seconds)) }
    }
    return all.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
  }

  private func ask(_ command: SprinklerCommand) {
    let effects = world.ask(command)
    calendar.note(time, SprinklerWords.command(command) + (effects.refusal.map { ": refused, \($0)" } ?? ""))
  }

  private func forecast(hours: Double, millimetres: Double) {
    let reason = "\(SprinklerWords.number(millimetres)) mm expected"
    calendar.note(time, "forecast: \(reason) within \(SprinklerWords.number(hours)) h")
    world.forecast(.rain(seconds: Int(saturating: hours * 3_600), reason: reason))
  }

  private func moisten(_ probe: SoilProbe, percent: Double) {
    let words =
      if case .pin = probe { percent > 0 ? "wet" : "dry" } else { "\(SprinklerWords.number(percent)) %" }
    calendar.note(time, "\(probe) reads \(words)")
    world.moisten([MoistureReading(probe: probe, percent: percent)])
  }

  private func tellYesterday(minimum: Double, maximum: Double, rain: Double) {
    let date = calendar.zone.local(time).date + -1
    calendar.note(
      time,
      "weather of \(date): \(SprinklerWords.number(minimum))…\(SprinklerWords.number(maximum)) °C, "
        + "\(SprinklerWords.number(rain)) mm")
    world.report(
      PastWeather(days: [
        DayWeather(date: date, minimumCelsius: minimum, maximumCelsius: maximum, rainMillimetres: rain)
      ]))
  }

  /// Cuts the power. If `clockStands`, the clock stops meanwhile, and is set right a minute after the power returns.
  private func cutPower(for seconds: Int64, clockStands: Bool) {
    calendar.note(
      time,
      "the power fails for \(SprinklerWords.minutes(Double(seconds))) min"
        + (clockStands ? ", the clock stands still" : ""))
    world.powerCut(for: .seconds(seconds), clockLoss: clockStands ? seconds : 0)
    guard clockStands else { return }
    let right = time + 60
    own.insert((right, { $0.world.stepClock(by: seconds) }), at: own.firstIndex { $0.at >= right } ?? own.endIndex)
  }

  private func restart(after pause: Nanoseconds) {
    note("restarted, \(pause)") { $0.restart(after: pause) }
  }

  private func stepClock(by seconds: Int64) {
    note("the clock is set by \(seconds) s") { $0.stepClock(by: seconds) }
  }

  private func note(_ text: String, _ act: (inout ScheduleSimulation) -> Void) {
    calendar.note(time, text)
    act(&world)
  }

  // MARK: checks

  static func checks(_ setup: Setup) -> [ScenarioCheck<SprinklerScenario>] {
    [
      // Runs that have ended, starts that were skipped, and the minutes that water has flowed, all so far.
      ScenarioCheck("runs", .range) { Double($0.world.log.count { $0.ranSeconds > 0 }) },
      ScenarioCheck("skipped", .range) { Double($0.world.log.count { $0.ranSeconds <= 0 }) },
      ScenarioCheck("minutes", .range) { $0.world.checks.flowed.values.reduce(0) { $0 + $1.inSeconds } / 60 },
    ]
  }
}
