@_spi(FromOutside) import Conversions
import Service
import Sprinkler
import TactusDaemon
import WallTime

/// A schedule in the form that `GET /api/schedules` shows and `PUT` accepts.
struct ScheduleAnswer: Answers {
  let program: Program
  /// The instant at which the schedule next opens a zone, or `nil` if it is disabled or has no day or no usable zone left.
  let next: WallInstant?

  var id: Int { program.id }
  var nextStartISO: String? { next.map { WallTimeText.text($0) } }
  private var days: [String]? {
    if case .weekdays(let bits) = program.days { ScheduleWords.weekdayNames(bits) } else { nil }
  }
  private var intervalDays: Int? { if case .interval(let days, _) = program.days { days } else { nil } }
  private var intervalFrom: String? {
    if case .interval(_, let from) = program.days { WallTimeText.text(from) } else { nil }
  }
  private var dayParity: String? {
    switch program.days {
    case .odd: "odd"
    case .even: "even"
    case .weekdays, .interval: nil
    }
  }
  private var startTimes: [String] { program.starts.map(ScheduleWords.text) }

  static var fields: [Field<ScheduleAnswer>] {
    Field("id", \.program.id, "Its number.")
    Field("name", \.program.name, "What people call it.")
    Field("isEnabled", \.program.isEnabled, "Whether it starts by itself.")
    Field("days", \.days, "Null: it goes by another rule.")
    Field("intervalDays", \.intervalDays, "Every so many days; null: it goes by another rule.")
    Field("intervalFrom", \.intervalFrom, "Counted from this date.")
    Field("dayParity", \.dayParity, "odd, even; null: it goes by another rule.")
    Field("startTimes", \.startTimes, "When on such a day.")
    Items("zones", \.program.steps, each: "step") {
      Field("zoneId", \.zoneId, "The zone that it opens.")
      Field("minutes", \.seconds.inMinutes, "For how long; with litres at most.")
      Field("litres", \.litres, "How much water; absent: a step by time.").leftOutIfNil
    }
    Field("skipIfRain", \.program.skipsInRain, "Not started during a rain delay.")
    Group("season", \.program.season, "Only within these dates; null: all year.") {
      Field("from", \.from.text, "The first day.")
      Field("to", \.to.text, "The last one.")
    }
    Group("cycleAndSoak", \.program.cycleAndSoak, "How long runs are split; null: they are not.") {
      Field("cycleMinutes", \.cycleSeconds.inMinutes, "No single run is longer.")
      Field("soakMinutes", \.soakSeconds.inMinutes, "Between two of them.")
    }
    Field("followsSeason", \.program.followsSeason, "Durations follow the seasonal level.")
    Field(
      "adjustment", \.program.adjustment?.rawValue,
      "deficit: each zone's deficit says how long it is watered; null: the minutes do.")
    Field("priority", \.program.priority, "Of two that start at the same instant, the higher one comes first.")
    Field("alias", \.program.alias, "What an app of the original backend calls it.")
    Field(
      "nextStartISO", \.nextStartISO, "When it next opens a zone; null: it is off, or no day or no zone is left to it.")
  }
}

extension Program.Step {
  fileprivate var zoneId: Int { Int(zone.number) }
}

extension MonthDay {
  fileprivate var text: String { ScheduleWords.text(self) }
}

/// The answer with all schedules, in order.
struct SchedulesAnswer: Answers {
  let schedules: [ScheduleAnswer]
  static var fields: [Field<SchedulesAnswer>] {
    Items("schedules", \.schedules, each: "schedule") { ScheduleAnswer.fields }
  }
}

/// The answer to `GET /api/schedules/export`, which `POST /api/schedules/import` accepts.
struct ScheduleExport: Answers {
  static let format = "tactus-schedules"
  let schedules: [ScheduleAnswer]

  private var format: String { Self.format }
  private var version: Int { 1 }

  static var fields: [Field<ScheduleExport>] {
    Field("format", \.format, "What the file is.")
    Field("formatVersion", \.version, "Of this format.")
    Items("schedules", \.schedules, each: "schedule") { ScheduleAnswer.fields }
  }
}

/// The answer to a request that starts a schedule: the runs that it has made.
struct RunsAnswer: Answers {
  let runs: [UInt64]
  let warning: String?

  private var runIds: [Int] { runs.map { Int(clamping: $0) } }

  static var fields: [Field<RunsAnswer>] {
    Field("runIds", \.runIds, "Runs that this request has made.")
    Field("warning", \.warning, "What people are to know besides.").leftOutIfNil
  }
}

/// The answer with the next starts of all schedules.
struct PreviewAnswer: Answers {
  let timeZone: String
  let preview: SprinklerPreview

  static var fields: [Field<PreviewAnswer>] {
    Field("timeZone", \.timeZone, "Of schedules.")
    Items("starts", \.preview.starts, each: "start") {
      Field("scheduleId", \.program, "The schedule's number.")
      Field("scheduleName", \.programName, "What people call it.")
      Field("startISO", \.startISO, "When.")
      Field("startLocal", \.startLocal, "With the controller's offset from UTC.")
      Field("inRainDelay", \.isInRainDelay, "The rain delay in force now will suppress it.")
      Items("runs", \.runs, each: "run") {
        Field("zoneId", \.zoneId, "The zone that it opens.")
        Field("startISO", \.startISO, "When.")
        Field("seconds", \.seconds, "For how long; of a run by litres at most.")
        Field("litres", \.roundedLitres, "How much water; null: a run by time.")
        Field("skipped", \.skipped?.word, "Why it will not happen, as far as is known now.")
        Field(
          "why", \.why,
          "The rain that suppresses it, or the deficit and the reading of the soil that change it or are missing"
            + ", or the zone's longest run that cuts it, in words; null: none does.")
      }
    }
    Items("sunless", \.preview.sunless, each: "start", "Starts by the sun on days on which it neither rises nor sets.")
    {
      Field("scheduleId", \.program, "The schedule's number.")
      Field("date", \.dateText, "The day.")
      Field("start", \.startText, "sunrise or sunset, with its offset.")
    }
    Field("isCut", \.preview.isCut, "Whether there are starts after these.")
  }
}

/// The answer to a draft of a schedule: the next starts as they would be with it, and the draft as it would be saved.
struct DraftAnswer: Answers {
  let starts: PreviewAnswer
  let schedule: ScheduleAnswer

  init(timeZone: String, _ draft: DraftPreview) {
    starts = PreviewAnswer(timeZone: timeZone, preview: draft.preview)
    schedule = ScheduleAnswer(program: draft.program, next: draft.next)
  }

  static var fields: [Field<DraftAnswer>] {
    Field.part(\.starts, PreviewAnswer.fields)
    Group("schedule", \.schedule, "The draft as it would be saved.") { ScheduleAnswer.fields }
  }
}

extension UpcomingStart {
  fileprivate var startISO: String { WallTimeText.text(at) }
  fileprivate var startLocal: String { WallTimeText.text(at, offsetSeconds: offsetSeconds) }
}

extension UpcomingRun {
  fileprivate var zoneId: Int { Int(zone.number) }
  fileprivate var roundedLitres: Double? { litres.map { ($0 * 1000).rounded() / 1000 } }
  var startISO: String { WallTimeText.text(start) }
}

extension StartKey {
  fileprivate var dateText: String { WallTimeText.text(date) }
  fileprivate var startText: String { ScheduleWords.text(start) }
}

/// The answer with the seasonal level.
struct SeasonalAnswer: Answers {
  let levels: SprinklerLevels
  let effectivePercent: Int

  static var fields: [Field<SeasonalAnswer>] {
    Field("percent", \.levels.seasonalPercent, "Of every duration that follows the season.")
    Field("monthlyPercent", \.levels.monthlyPercent, "January first; empty: the same all year.")
    Field("effectivePercent", \.effectivePercent, "What holds now.")
  }
}

/// The answer with one page of the watering log.
struct LogAnswer: Answers {
  let page: LogPage

  private var next: String? { page.next?.text }

  static var fields: [Field<LogAnswer>] {
    Items("runs", \.page.records, each: "run") {
      Field("runId", \.runId, "Its number.")
      Field("zoneId", \.zoneId, "The zone.")
      Field("zoneName", \.zoneName, "What people called it.")
      Field("scheduleId", \.program, "Null if it belonged to no schedule.")
      Field("scheduleName", \.programName, "What people called the schedule.")
      Field("isScheduled", \.isScheduled, "Whether a schedule's start made it.")
      Field("startISO", \.startISO, "When.")
      Field("askedSec", \.askedSeconds, "For how long it was to run.")
      Field("ranSec", \.roundedRan, "How long it did.")
      Field("askedLitres", \.roundedAskedLitres, "How much water it was to have; null: a run by time.")
      Field("litres", \.roundedLitres, "How much it had by the flow sensor; null: it never ran, or nothing measured.")
      Field("outcome", \.outcome.word, "How it ended.")
      Field("caller", \.caller, "Who asked; null: the controller itself.")
      Field(
        "why", \.why,
        "The rain that suppressed or ended it, or the deficit and the reading of the soil that changed it or were missing"
          + ", in words; null: none did.")
    }
    Field("next", \.next, "For `after` of the next page; null: there is none.")
  }
}

extension WateringRecord {
  fileprivate var runId: Int { Int(clamping: run) }
  fileprivate var zoneId: Int { Int(zone.number) }
  fileprivate var startISO: String { WallTimeText.text(start) }
  fileprivate var roundedRan: Double { (ranSeconds * 1000).rounded() / 1000 }
  var roundedAskedLitres: Double? { askedLitres.map { ($0 * 1000).rounded() / 1000 } }
  var roundedLitres: Double? { litres.map { ($0 * 1000).rounded() / 1000 } }
}
