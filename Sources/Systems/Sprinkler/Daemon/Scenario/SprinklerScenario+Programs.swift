import Sprinkler
import Tactus
import TactusDaemon
import WallTime

extension ScenarioWord<Zone> {
  /// The keys of a zone.
  static var keys: [Self] {
    [
      Self("name", .text) { $0.name = $1 },
      Self("longest_minutes", .minutes) { $0.maximumSeconds = $1 },
      Self("longest_minutes_per_day", .minutes) { $0.maximumSecondsPerDay = $1 },
      Self("group", .integer(1...15)) { $0.group = $1 },
      Self("ignores_rain", .boolean) { $0.ignoresRain = $1 },
      Self("uses_master", .boolean) { $0.usesMaster = $1 },
      Self("enabled", .boolean) { $0.isEnabled = $1 },
    ]
  }
}

extension ScenarioWord<DeficitRule> {
  /// The keys of a zone's deficit.
  static var keys: [Self] {
    [
      Self("mm_per_hour", .number(0.1...500)) { $0.millimetresPerHour = $1 },
      Self("crop_factor", .number(0.05...2)) { $0.cropFactor = $1 },
      Self("max_deficit_mm", .number(1...200)) { $0.greatestMillimetres = $1 },
      Self("min_deficit_mm", .number(0.1...200)) { $0.leastMillimetres = $1 },
    ]
  }
}

extension ScenarioWord<MoistureRule> {
  /// The keys of a rule of the soil.
  static var keys: [Self] {
    [
      Self("plant", .integer(1...999_999)) { $0.probe = .plant($1) },
      Self("topic", .text) { $0.probe = .topic(SoilTopic(name: $1)) },
      Self("pin", .integer(0...1023)) { $0.probe = .pin($1) },
      Self("zones", .list(.integer(1...64))) { $0.zones = Set($1.compactMap { ZoneID($0) }) },
      Self("wet_percent", .number(0.1...100)) { $0.wetPercent = $1 },
      Self("effect", .word(["skip": .skip, "stop": .stop])) { $0.effect = $1 },
      Self("shorten_to_percent", .integer(1...99)) { $0.effect = .shorten(percent: $1) },
      Self("delay_minutes", .minutes) { $0.delaySeconds = $1 },
      Self("valid_minutes", .minutes) { $0.validSeconds = $1 },
    ]
  }
}

extension ScenarioWord<Program> {
  /// The keys of a program.
  static var keys: [Self] {
    [
      Self("name", .text) { $0.name = $1 },
      Self("days", .days) { $0.days = $1 },
      Self("season", .season) { $0.season = $1 },
      Self("starts", .list(.start)) { $0.starts = $1 },
      Self("steps", .list(.step)) { $0.steps = $1 },
      Self("cycle_minutes", .minutes) { $0.cycle.cycleSeconds = $1 },
      Self("soak_minutes", .minutes) { $0.cycle.soakSeconds = $1 },
      Self("follows_season", .boolean) { $0.followsSeason = $1 },
      Self("skips_in_rain", .boolean) { $0.skipsInRain = $1 },
      Self("adjustment", .word(["deficit": Program.Adjustment.deficit])) { $0.adjustment = $1 },
      Self("priority", .integer(-100...100)) { $0.priority = $1 },
      Self("enabled", .boolean) { $0.isEnabled = $1 },
    ]
  }
}

extension Program {
  /// The cycle and soak; both are zero in a program that has none.
  fileprivate var cycle: CycleAndSoak {
    get { cycleAndSoak ?? CycleAndSoak(cycleSeconds: 0, soakSeconds: 0) }
    set { cycleAndSoak = newValue.cycleSeconds > 0 || newValue.soakSeconds > 0 ? newValue : nil }
  }
}

// MARK: forms of values

extension ScenarioValue<Int> {
  /// The form of minutes with a fraction, which become whole seconds.
  static var minutes: Self { ScenarioValue<Double>.number(0...1_440).map { Int(saturating: ($0 * 60).rounded()) } }
}

extension ScenarioValue<LocalDate> {
  /// The form of a date: `2026-03-29`.
  static var date: Self { .text(like: "a date like 2026-03-29") { ScheduleWords.date($0) } }
}

extension ScenarioValue<StartTime> {
  /// The form of a start: `05:30`, `sunrise`, or `sunset+15`. The number is the minutes after the sun's event, or
  /// before it with a minus sign.
  fileprivate static var start: Self {
    .text(like: "a start like 05:30 or sunrise-45, at most 720 minutes beside it") { ScheduleWords.start($0) }
  }
}

extension ScenarioValue<Program.Step> {
  /// The form of a zone with its minutes: `[2, 7.5]`.
  static var step: Self {
    ScenarioValue<(Double, Double)>.pair(0...1_440).checked { number, _ in
      Int(exactly: number).flatMap { ZoneID($0) } == nil ? "expected a zone 1…64 and minutes, got \(number)" : nil
    }.map { Program.Step(zone: ZoneID(Int(saturating: $0))!, seconds: Int(saturating: ($1 * 60).rounded())) }
  }
}

extension ScenarioValue<Season> {
  /// The form of a season: `[04-15, 10-10]`.
  fileprivate static var season: Self {
    ScenarioValue<[MonthDay]>.list(.text(like: "a day like 04-15") { ScheduleWords.monthDay($0) }).checked {
      $0.count == 2 ? nil : "expected two days like [04-15, 10-10], got a list of \($0.count)"
    }.map { Season(from: $0[0], to: $0[1]) }
  }
}

extension ScenarioValue<DayRule> {
  /// The form of a rule for days: `[mon, thu]`, `odd`, `even`, `daily` or `{ every: 3, from: 2026-04-01 }`.
  fileprivate static var days: Self {
    let names = ScheduleWords.weekdays.map { $0.lowercased() }
    let interval = ScenarioWord("every", .integer(1...365), with: ScenarioCompany("from", .date)) {
      (rule: inout DayRule?, days, from) in rule = .interval(days: days, from: from)
    }
    return .word(["daily": .weekdays(127), "odd": .odd, "even": .even]).orMapping(interval).orList(
      ScenarioValue<[String]>.list(.word(names)).map { days in
        .weekdays(days.reduce(0) { $0 | 1 << UInt8(clamping: names.firstIndex(of: $1)!) })
      })
  }
}
