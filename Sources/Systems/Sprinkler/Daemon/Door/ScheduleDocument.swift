import Service
import Sprinkler
import WallTime

/// A schedule as `GET /api/schedules` shows it; what `PUT` takes.
struct ScheduleDocument: Encodable {
  struct Step: Codable, Sendable {
    let zoneId: Int
    let minutes: Double
  }
  struct Season: Codable, Sendable { let from, to: String }
  struct Cycle: Codable, Sendable { let cycleMinutes, soakMinutes: Double }

  let id: Int
  let name: String
  let isEnabled: Bool
  /// Null: it goes by another rule.
  @OrNull var days: [String]?
  @OrNull var intervalDays: Int?
  @OrNull var intervalFrom: String?
  @OrNull var dayParity: String?
  let startTimes: [String]
  let zones: [Step]
  let skipIfRain: Bool
  @OrNull var season: Season?
  @OrNull var cycleAndSoak: Cycle?
  let followsSeason: Bool
  let priority: Int
  /// What an app of the original backend calls it.
  @OrNull var alias: String?
  /// When it next opens a zone; null: it is off, or no day or no zone is left to it.
  @OrNull var nextStartISO: String?

  init(_ program: Program, next: WallInstant?) {
    _nextStartISO = OrNull(wrappedValue: next.map { WallTimeText.text($0) })
    id = program.id
    name = program.name
    isEnabled = program.isEnabled
    var days: [String]?
    var interval: (Int, LocalDate)?
    var parity: String?
    switch program.days {
    case .weekdays(let bits): days = ScheduleWords.words(bits)
    case .interval(let count, let from): interval = (count, from)
    case .odd: parity = "odd"
    case .even: parity = "even"
    }
    _days = OrNull(wrappedValue: days)
    _intervalDays = OrNull(wrappedValue: interval?.0)
    _intervalFrom = OrNull(wrappedValue: interval.map { ScheduleWords.text($0.1) })
    _dayParity = OrNull(wrappedValue: parity)
    startTimes = program.starts.map(ScheduleWords.text)
    zones = program.steps.map { Step(zoneId: Int($0.zone.number), minutes: WateringTime.minutes($0.seconds)) }
    skipIfRain = program.skipsInRain
    _season = OrNull(
      wrappedValue: program.season.map { Season(from: ScheduleWords.text($0.from), to: ScheduleWords.text($0.to)) })
    _cycleAndSoak = OrNull(
      wrappedValue: program.cycleAndSoak.map {
        Cycle(
          cycleMinutes: WateringTime.minutes($0.cycleSeconds), soakMinutes: WateringTime.minutes($0.soakSeconds))
      })
    followsSeason = program.followsSeason
    priority = program.priority
    _alias = OrNull(wrappedValue: program.alias)
  }
}

/// `GET /api/schedules/export`: what `POST /api/schedules/import` takes.
struct ScheduleExportDocument: Encodable {
  static let format = "tactus-schedules"
  let ok = true
  let format = Self.format
  let formatVersion = 1
  let schedules: [ScheduleDocument]
}

/// A start to come.
struct UpcomingStartDocument: Encodable {
  struct Run: Encodable {
    let zoneId: Int
    let startISO: String
    let seconds: Int
    /// Why it will not happen, as far as is known now.
    @OrNull var skipped: String?
  }
  let scheduleId: Int
  let scheduleName: String
  let startISO: String
  /// With the controller's offset from UTC.
  let startLocal: String
  let inRainDelay: Bool
  let runs: [Run]

  init(_ start: UpcomingStart) {
    scheduleId = start.program
    scheduleName = start.programName
    startISO = WallTimeText.text(start.at)
    startLocal = WallTimeText.text(start.at, offsetSeconds: start.offsetSeconds)
    inRainDelay = start.isInRainDelay
    runs = start.runs.map {
      Run(
        zoneId: Int($0.zone.number), startISO: WallTimeText.text($0.start), seconds: $0.seconds,
        skipped: $0.skipped?.word)
    }
  }
}

/// A start by the sun on a day on which it neither rises nor sets.
struct SunlessStartDocument: Encodable {
  let scheduleId: Int
  let date: String
  let start: String

  init(_ key: StartKey) {
    (scheduleId, date, start) = (key.program, ScheduleWords.text(key.date), ScheduleWords.text(key.start))
  }
}

extension RunOutcome {
  /// The value of `outcome` in the API and in the log's CSV.
  var word: String {
    switch self {
    case .completed: "completed"
    case .stopped: "stopped"
    case .replaced: "replaced"
    case .rainDelay: "rainDelay"
    case .emergencyStop: "emergencyStop"
    case .fault: "fault"
    case .shutdown: "shutdown"
    case .powerCut: "powerCut"
    case .crash: "crash"
    case .dayLimit: "dayLimit"
    case .disabled: "disabled"
    case .seasonalLevel: "seasonalLevel"
    case .missed: "missed"
    case .overlap: "overlap"
    case .runLimit: "runLimit"
    case .externalStop: "externalStop"
    case .wrongClock: "wrongClock"
    }
  }
}

/// A line of the watering log.
struct WateringDocument: Encodable {
  let runId: UInt64
  let zoneId: Int
  let zoneName: String
  @OrNull var scheduleId: Int?
  @OrNull var scheduleName: String?
  let isScheduled: Bool
  let startISO: String
  let askedSec: Int
  let ranSec: Double
  let outcome: String
  @OrNull var caller: String?

  init(_ record: WateringRecord) {
    runId = record.run
    zoneId = Int(record.zone.number)
    zoneName = record.zoneName
    _scheduleId = OrNull(wrappedValue: record.program)
    _scheduleName = OrNull(wrappedValue: record.programName)
    isScheduled = record.isScheduled
    startISO = WallTimeText.text(record.start)
    askedSec = record.askedSeconds
    ranSec = (record.ranSeconds * 1000).rounded() / 1000
    outcome = record.outcome.word
    _caller = OrNull(wrappedValue: record.caller)
  }
}
