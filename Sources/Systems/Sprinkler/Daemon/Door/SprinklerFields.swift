@_spi(FromOutside) import Conversions
import Service
import Sprinkler
import Tactus
import TactusDaemon

/// The fields of the sprinkler's documents and metrics, each with the property that supplies the value.
enum SprinklerFields {
  /// The document with the members that the requirement wants at the top level of `GET /api/status`.
  static let status = StateDocument(of: "sprinkler", ofStatus)
  /// The document of an event for a change of the state.
  static let change = StateDocument(of: "sprinkler", words)
  /// The document of an event for a change of the rain delay.
  static let rain = StateDocument(of: "sprinkler", ofRain)
  /// The document of `GET /api/pins`.
  static let pins = StateDocument(of: "sprinkler", ofPin)

  /// The fields of the state: `GET /api/sprinkler`, events, `/metrics`.
  @DeclarationBuilder<Field<SprinklerSeen>> static var ofState: [Field<SprinklerSeen>] {
    Field.part(\.state, words)
    Field(
      "stateInMetrics", \.newest.state.metricWord, when: .metrics, metric: .named("state", label: "state"),
      "1 for the state the valves are in, 0 for the others.")
    Field("fault", \.state.fault, "What is wrong; null unless it is in fault.")
    Group("faultLine", \.state.faultLine, "The line that the fault is of; null unless a line was not as told.") {
      ofLine
    }
    Field(
      "linesConfirmed", \.newest.confirmation.isConfirmed, metric: .none,
      "Whether the lines were read back as they were told.")
    Items(
      "linesDiffering", \.state.differing, numbered: "line", labels: [:],
      "The lines that are not as they were told, as last read back."
    ) { ofLine }
    Field("pausedRemainingSec", \.pausedRemainingSec, metric: .none, "Until a pause ends; null while there is none.")
    Items("zones", \.zones, each: "zone", numbered: "id", labels: ["zone": "id"]) { ofZone }
    Items("queue", \.queue, each: "run") { ofQueue }
    Field("queueCount", \.newest.queueCount, metric: "queue", "Runs that wait for their turn.")
    Field(
      "schedules", \.view.records.programs.count, when: .metrics, metric: "schedules", "Schedules, disabled ones too.")
    Group("rainDelay", \.rain) { ofRain }
    Field(
      "nextStartSeconds", \.nextStartSeconds, when: .metrics, metric: "next_start_seconds",
      "Until the next start of a schedule; absent while there is none.")
    Group("nextRun", \.nextRun, "Of the queue, else of the schedules; null if neither has one.") { ofNextRun }
    Group("store", \.view, "What zones, schedules and the log are kept in.") { ofStore }
    Field(
      "masterOpen", \.newest.isMasterOpen, metric: "master_open",
      "Whether the master valve is open; absent where there is none.")
    Field("seasonalPercent", \.seasonalPercent, metric: .none, "Of every duration that follows the season.")
    Field("timeZone", \.description.timeZone.identifier, "Of schedules.")
    Field("localTime", \.localTime, "The time of day there.")
    Group("flow", \.flow, "Null where there is no flow sensor.") { ofFlow }
    Group("weather", \.weather, "Null where no provider is asked.") { ofWeather }
    Items("soil", \.view.soil, each: "rule", "The rules of `sprinkler.soil` in the order of the file.") { ofSoil }
    Items("deficits", \.view.deficits, each: "deficit", "Of the zones with mm_per_hour.") { ofDeficit }
    Items("flows", \.view.flows, each: "flow", "Of the zones with limits of their own.") { ofZoneFlow }
    Group("rainSensor", \.view.rainSensor, "Null where there is no rain sensor.") { ofRainSensor }
    Group("clock", \.clock, "The time of day, and how far it is believed.") { ofClock }
    Group("counters", \.newest, "Since the start.") { ofCounters }
    // The machine keeps notices while the ring is full, so that no run's opening or end is lost.
    Field(
      "noticesDropped", \.newest.noticesDropped, kind: .counter, when: .metrics, metric: "dropped_notices",
      "Changes that no log shows because the ring was full.")
  }

  @DeclarationBuilder<Field<StateSeen>> private static var words: [Field<StateSeen>] {
    Field("state", \.word, metric: .none, "idle, watering, paused, fault, emergencyStopped, shutDown.")
    Field("reason", \.reason, "What it does, for people.")
    Field("wayOut", \.wayOut, "What leads out of it; null if nothing needs to.")
  }

  @DeclarationBuilder<Field<LineSeen>> private static var ofLine: [Field<LineSeen>] {
    Field("line", \.line, metric: .none, "Its place in `/api/pins`, from 1 on.")
    Field("pin", \.pin, metric: .none, "Its pin's number.")
    Field("zoneId", \.zoneId, metric: .none, "The zone that has the pin; null if none has.")
    Field("isMaster", \.isMaster, metric: .none, "Whether it is the master valve's.")
    Field("isOn", \.isOn, metric: .none, "True: it is on although told to be off; false: off although told to be on.")
  }

  /// The fields of a zone in `/api/status`, `/api/zones` and `sprinkler/zone/ID/state`.
  @DeclarationBuilder<Field<ZoneSeen>> static var ofZone: [Field<ZoneSeen>] {
    Field("id", \.id, metric: .none, "Its number.")
    Field("name", \.zone.name, "What people call it.")
    Field(
      "gpioPin", \.zone.gpioPin, metric: .none,
      "Its valve's pin: BCM number, offset on `sprinkler.chip`, or a line of `sprinkler.expanders`.")
    Field("isEnabled", \.zone.isEnabled, metric: .none, "A disabled zone never runs.")
    Field("isOn", \.status.isOn, metric: "zone_open", "Whether a zone's valve is open.")
    Field("remainingSec", \.remainingSec, metric: .none, "Whole seconds, rounded up; null while it is closed.")
    Field(
      "remaining", \.remaining?.inSeconds, when: .metrics, metric: "zone_remaining_seconds",
      "Until a zone's valve closes; absent while it is closed.")
    Field("defaultMinutes", \.zone.defaultSeconds.inMinutes, metric: .none, "Of a run that nobody gave a length.")
    Field("maxMinutes", \.zone.maximumSeconds.inMinutes, metric: .none, "No run is longer.")
    Field(
      "maxMinutesPerDay", \.zone.maximumSecondsPerDay?.inMinutes, metric: .none, "In one local day; null for no limit.")
    Field("group", \.zone.group, metric: .none, "Its group; null if it is in none.")
    Field("ignoresRain", \.zone.ignoresRain, metric: .none, "Schedules water it during a rain delay, too.")
    Field("usesMaster", \.zone.usesMaster, metric: .none, "The master valve is open while this zone is.")
    Field("activeLow", \.isActiveLow, metric: .none, "Whether a low level opens its valve; said in the configuration.")
    Field(
      "runLitres", \.runLitres, metric: .none,
      "The water of the open run by the flow sensor, l; null while it is closed or without a sensor.")
    Field(
      "runLitresAsked", \.runLitresAsked, metric: .none,
      "The water that the open run is to have, l; null while it is closed or for a run by time.")
    Field("ranTodaySec", \.ranTodaySec, metric: .none, "What it has run on this local day.")
    Field(
      "ranToday", \.status.ranToday.inSeconds, when: .metrics, metric: "zone_today_seconds",
      "What a zone has run on this local day.")
  }

  @DeclarationBuilder<Field<QueuedSeen>> static var ofQueue: [Field<QueuedSeen>] {
    Field("runId", \.runId, metric: .none, "Its number.")
    Field("zoneId", \.zoneId, metric: .none, "The zone that it opens.")
    Field("seconds", \.seconds, metric: .none, "For how long; of a run by litres at most.")
    Field("litres", \.litres, metric: .none, "How much water, l; null: a run by time.")
    Field("source", \.queued.run.source.word, "manual, schedule, once, resumed.")
    Field("scheduleId", \.scheduleId, metric: .none, "Null if it belongs to no schedule.")
    Field("expectedISO", \.expectedISO, "When it opens; null if that cannot be said.")
    Field("inSec", \.inSec, metric: .none, "Until then.")
  }

  @DeclarationBuilder<Field<RainSeen>> static var ofRain: [Field<RainSeen>] {
    Field("active", \.isActive, metric: .none, "Whether there is one.")
    Field("until", \.until, "When it ends.")
    Field("reason", \.reason, "manual, weather, sensor; null if there is none.")
    Field("detail", \.detail, "What the forecast or the rain sensor said.")
    Field(
      "seconds", \.seconds, when: .metrics, metric: "rain_delay_seconds",
      "Until the rain delay ends; absent while there is none.")
  }

  @DeclarationBuilder<Field<NextRunSeen>> private static var ofNextRun: [Field<NextRunSeen>] {
    Field("zoneId", \.zoneId, metric: .none, "The zone that it opens.")
    Field("startISO", \.startISO, "When.")
    Field("seconds", \.seconds, metric: .none, "For how long.")
    Field("scheduleId", \.scheduleId, metric: .none, "Null if it is in the queue and belongs to no schedule.")
    Field("scheduleName", \.scheduleName, "What people call the schedule.")
  }

  @DeclarationBuilder<Field<SprinklerView>> private static var ofStore: [Field<SprinklerView>] {
    Field(
      "open", \.isLoaded, metric: .none,
      "False: it could not be read, and lists of zones and schedules are empty because they are unknown.")
    Field("writable", \.isWritable, metric: "store_writable", "Whether the store took the last change.")
    Field("failure", \.storeFailure, "Why it did not.")
  }

  @DeclarationBuilder<Field<FlowSeen>> private static var ofFlow: [Field<FlowSeen>] {
    Field("litresPerMinute", \.status.roundedLitresPerMinute, metric: .none, "By the flow sensor.")
    Field(
      "litresPerMinuteInMetrics", \.status.litresPerMinute, when: .metrics, metric: "flow_litres_per_minute",
      "By the flow sensor.")
    Field("alarm", \.alarm, metric: .none, "What is wrong with the flow; null if nothing is.")
    Field(
      "isAlarmed", \.isAlarmed, when: .metrics, metric: "flow_alarm", "Whether the flow is not what it should be.")
    Field("pulses", \.status.pulses, kind: .counter, metric: "flow_pulses", "Pulses of the flow sensor.")
  }

  @DeclarationBuilder<Field<WeatherSeen>> private static var ofWeather: [Field<WeatherSeen>] {
    Field("provider", \.provider, "Who is asked.")
    Field("isOn", \.view.records.isForecastOn, metric: .none, "Whether it is asked and makes rain delays.")
    Field(
      "millimetres", \.view.weather?.millimetres, metric: .none,
      "Of the days that are added up, as far as they are known; null: none is.")
    Field("isLowerBound", \.isLowerBound, metric: .none, "Some of the days are unknown: it may be more.")
    Field("answeredISO", \.answeredISO, "When it last answered.")
    Field("failure", \.view.weather?.failure, "Why the last question has no answer.")
  }

  @DeclarationBuilder<Field<SoilStatus>> private static var ofSoil: [Field<SoilStatus>] {
    Field(
      "probe", \.probe.description, metric: .none,
      "What measures it, in words: `plant 3`, `topic garden/lawn`, `pin 23`.")
    Field("plant", \.plant, metric: .none, "The plant whose probes are read; null: it is another probe.")
    Field(
      "soilState", \.word.rawValue, metric: .none,
      "unknown (as scheduled), dry, waits (wet, not yet for long enough), wet.")
    Field(
      "moisturePercent", \.tenths, metric: .none, "The last reading, of a pin 0 or 100; null: none since the start.")
    Field("readISO", \.readISO, metric: .none, "When it was read.")
  }

  @DeclarationBuilder<Field<DeficitStatus>> private static var ofDeficit: [Field<DeficitStatus>] {
    Field("zoneId", \.zoneNumber, metric: .none, "The zone.")
    Field("deficitMm", \.tenths, metric: .none, "The water that its soil lacks; null: no day has been counted.")
    Field("through", \.throughText, metric: .none, "The last day that is counted; null: none.")
    Field("isValid", \.isValid, metric: .none, "Whether schedules go by it; otherwise they run as they are.")
    Field("why", \.words, "What it is made of, or what is missing.")
  }

  @DeclarationBuilder<Field<ZoneFlowStatus>> private static var ofZoneFlow: [Field<ZoneFlowStatus>] {
    Field("zoneId", \.zoneNumber, metric: .none, "The zone.")
    Field("usualLitresPerMinute", \.usual, metric: .none, "What is learnt; null: nothing yet, or nothing is to be.")
    Field("learntISO", \.learntISO, metric: .none, "When.")
    Field("runs", \.runs, metric: .none, "Runs that were measured for it so far.")
    Field("neededRuns", \.neededRuns, metric: .none, "Runs that it takes; null: nothing is to be learnt.")
    Field("minLitresPerMinute", \.least, metric: .none, "Less is an alarm now; null: nothing is.")
    Field("maxLitresPerMinute", \.greatest, metric: .none, "More is an alarm now; null: nothing is.")
    Field("why", \.words, "What the limits are from.")
  }

  @DeclarationBuilder<Field<RainSensorStatus>> private static var ofRainSensor: [Field<RainSensorStatus>] {
    Field(
      "state", \.word.rawValue, metric: .none,
      "unknown (as scheduled), dry, waits (wet, not yet for long enough), wet, lifted (wet, the delay was ended by hand), "
        + "stuck (wet for so long that its wire is taken for broken).")
    Field(
      "isWet", \.isWet, when: .metrics, metric: "rain_sensor_wet",
      "Whether the rain sensor is wet; absent while its line cannot be read.")
    Field("sinceISO", \.sinceISO, metric: .none, "Since when it reads so; null: it has not been read.")
  }

  @DeclarationBuilder<Field<ClockSeen>> private static var ofClock: [Field<ClockSeen>] {
    Field("state", \.reading.word, "unconfirmed, steady, synchronised.")
    Field(
      "isBelieved", \.reading.isConfirmed, metric: .none, "False: schedules that are due wait, and nothing is deleted.")
    Field(
      "lastJumpSec", \.lastJumpSec, metric: .none,
      "By how much it was set last, forward positive; null: not since the program's start.")
    Field("lastJumpISO", \.lastJumpISO, "When that was.")
  }

  @DeclarationBuilder<Field<SprinklerSnapshot>> private static var ofCounters: [Field<SprinklerSnapshot>] {
    counter("accepted", \.accepted, "accepted_orders", "Orders that the valves' loop took.")
    counter("refused", \.refused, "refused_orders", "Orders that it refused.")
    counter("ended", \.ended, "ended_runs", "Runs that have ended, however they did.")
    counter("completed", \.completed, "completed_runs", "Runs that lasted as long as asked.")
    counter("writes", \.writes, "line_writes", "Settings of the lines that succeeded.")
    counter("lineFailures", \.lineFailures, "line_failures", "Settings of the lines that failed.")
    counter("differences", \.differences, "line_differences", "Read-backs that were not as told.")
  }

  private static func counter(
    _ name: String, _ path: KeyPath<SprinklerSnapshot, Int64> & Sendable, _ metric: String, _ meaning: String
  ) -> Field<SprinklerSnapshot> {
    Field(name, path, kind: .counter, metric: .named(metric), meaning)
  }

  @DeclarationBuilder<Field<SprinklerStatus>> private static var ofStatus: [Field<SprinklerStatus>] {
    Field("backend", \.seen.description.backend, "gpio, sim.")
    Field(
      "pigpioConnected", \.seen.areLinesHeld,
      "The lines are held and take what they are told. Its name is the original backend's.")
    Items("zones", \.seen.zones, each: "zone", numbered: "id", labels: ["zone": "id"]) { ofZone }
    Field("activeZoneId", \.seen.active?.id, "The zone that is open longest; null if none is.")
    Field("activeRemainingSec", \.seen.active?.remainingSec, "Until it closes.")
    Group("nextRun", \.nextRun, "Of the queue, else of the schedules; null if neither has one.") { ofNextRun }
    Group("rainDelay", \.seen.rain) { ofRain }
    Field(
      "latencyMs", \.latencyMs,
      "Whole milliseconds that making this document took, as an app that knows the requirement's example reads it.")
  }

  @DeclarationBuilder<Field<PinSeen>> private static var ofPin: [Field<PinSeen>] {
    Field("pin", \.line.pin, "Its number.")
    Field("mode", \.mode, "OUTPUT.")
    Field("value", \.value, "The level on the pin, 1 for high, read back; null if it could not be read.")
    Field("activeLow", \.line.isActiveLow, "Whether a low level opens the valve.")
    Field("zoneId", \.zoneId, "Null if no zone has it.")
    Field("isMaster", \.isMaster, "Whether it is the master valve's.")
  }
}

/// The values that the requirement wants at the top level of `GET /api/status`.
struct SprinklerStatus: Sendable {
  let seen: SprinklerSeen
  let nextRun: NextRunSeen?
  let latencyMs: Int
}

extension Int {
  /// The number of seconds in minutes. One second is 0.02, the least value that a request may contain, which is read as one second.
  var inMinutes: Double { self == 1 ? 0.02 : Double(self) / 60 }
}

extension FlowStatus {
  fileprivate var roundedLitresPerMinute: Double { (litresPerMinute * 100).rounded() / 100 }
}

extension FlowSeen {
  fileprivate var isAlarmed: Bool { alarm != nil }
}

extension SoilStatus {
  fileprivate var tenths: Double? { percent.map { ($0 * 10).rounded() / 10 } }
  fileprivate var plant: Int? { if case .plant(let number) = probe { number } else { nil } }
  fileprivate var readISO: String? { at.map { WallTimeText.text($0) } }
}

extension DeficitStatus {
  fileprivate var zoneNumber: Int { Int(zone.number) }
  fileprivate var tenths: Double? { deficit.map { ($0.millimetres * 10).rounded() / 10 } }
  fileprivate var throughText: String? { deficit.map { WallTimeText.text($0.through) } }
}

extension ZoneFlowStatus {
  fileprivate var zoneNumber: Int { Int(zone.number) }
  fileprivate var usual: Double? { Self.rounded(flow?.litresPerMinute) }
  fileprivate var learntISO: String? { flow?.learntAt.map { WallTimeText.text($0) } }
  fileprivate var runs: Int { flow.map { $0.litresPerMinute == nil ? $0.samples.count : $0.runs } ?? 0 }
  fileprivate var least: Double? { Self.rounded(minimum) }
  fileprivate var greatest: Double? { Self.rounded(maximum) }

  private static func rounded(_ value: Double?) -> Double? { value.map { ($0 * 100).rounded() / 100 } }
}

extension RainSensorStatus {
  fileprivate var isWet: Bool? {
    switch word {
    case .unknown: nil
    case .dry: false
    case .waits, .wet, .lifted, .stuck: true
    }
  }
  fileprivate var sinceISO: String? { since.map { WallTimeText.text($0) } }
}

extension SprinklerView {
  fileprivate var isWritable: Bool { storeFailure == nil }
}
