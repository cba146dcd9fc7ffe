import Service
import Sprinkler

extension SprinklerRefusal {
  /// The refusal of a command as the API says it.
  var error: APIError {
    switch self {
    case .invalid(let field, let expected, let got):
      .validation(Self.apiField(field), expected: expected, got: got)
    case .unknownZone(let zone): .notFound("no zone \(zone); GET /api/zones lists them")
    case .unknownProgram(let program): .notFound("no schedule \(program); GET /api/schedules lists them")
    case .unknownRun(let run): .notFound("no run \(run) is queued or open")
    case .zoneDisabled(let zone): .zoneDenied("zone \(zone) is disabled", field: nil)
    case .rainDelay(let until):
      APIError(
        .init(code: 423, reasonPhrase: "Locked"), "RAIN_DELAY",
        "there is a rain delay until \(WallTimeText.text(until)), during which nothing runs; DELETE /api/rain-delay ends it"
      )
    case .dayLimit(let zone, let seconds):
      .conflict("DAY_LIMIT", "zone \(zone) has run all it may today, \(seconds) s")
    case .queueFull(let capacity):
      .conflict("QUEUE_FULL", "no more than \(capacity) runs may be queued or open, and with these there would be more")
    }
  }

  /// The schedule's own names of members in the words of the API.
  private static func apiField(_ field: String) -> String {
    var field = field
    if field.hasSuffix(".zone") { field += "Id" }
    for (own, api) in [
      ("programs", "schedules"), ("days.from", "intervalFrom"), ("days.interval", "intervalDays"), ("steps", "zones"),
      ("starts", "startTimes"), (".seconds", ".minutes"), ("defaultSeconds", "defaultMinutes"),
      ("maximumSecondsPerDay", "maxMinutesPerDay"), ("maximumSeconds", "maxMinutes"),
      ("seasonalPercent", "percent"), ("skipsInRain", "skipIfRain"),
    ] {
      field = field.replacing(own, with: api)
    }
    return field
  }
}

extension APIError {
  /// 403 `ZONE_DENY`: a zone or a pin that may not be used.
  static func zoneDenied(_ message: String, field: String?) -> APIError {
    APIError(.forbidden, "ZONE_DENY", message, field: field)
  }

  /// 409 `GPIO_BUSY`: a pin or a valve that somebody else has at the moment.
  static func gpioBusy(_ message: String, field: String? = nil) -> APIError {
    APIError(.conflict, "GPIO_BUSY", message, field: field)
  }
}

extension IrrigationRefusal {
  /// The refusal of a request as the API says it.
  func error(zone: ZoneID? = nil) -> APIError {
    let subject = zone.map { "zone \($0)" } ?? "the sprinkler"
    return switch self {
    case .noSuchZone: .notFound("no such zone")
    case .noSuchGroup: .validation("group", expected: "a configured group", got: "another one")
    case .zoneDisabled: .zoneDenied("\(subject) is disabled", field: nil)
    case .noSuchLine: .zoneDenied("\(subject) has no line", field: nil)
    case .zoneHasNoLine, .lineTaken, .zoneOpen: .gpioBusy("\(subject): \(sentence)")
    case .invalidDuration, .longerThanMaximum:
      .validation("minutes", expected: "at most the zone's longest run", got: "more")
    case .rainDelay:
      APIError(.init(code: 423, reasonPhrase: "Locked"), "RAIN_DELAY", "\(subject): \(sentence)")
    case .noSuchRun: .notFound(sentence)
    default: .conflict(code, "\(subject): \(sentence)")
    }
  }

  /// Whether what was asked for is so already.
  func isHarmless(for order: SprinklerRequest.Order) -> Bool {
    switch (self, order) {
    case (.zoneNotRunning, .off), (.noSuchRun, .cancel), (.nothingToSkip, .skip), (.notPaused, .resume): true
    case (.emergencyStopped, _), (.inFault, _), (.shutDown, _): order.isStop || order.run == nil
    default: false
    }
  }

  /// Stays the same from release to release.
  var code: String {
    switch self {
    case .noSuchZone, .noSuchRun, .noSuchGroup: "NOT_FOUND"
    case .zoneDisabled, .noSuchLine: "ZONE_DENY"
    case .zoneHasNoLine, .lineTaken, .zoneOpen: "GPIO_BUSY"
    case .invalidDuration, .longerThanMaximum: "VALIDATION"
    case .dayLimitReached: "DAY_LIMIT"
    case .rainDelay: "RAIN_DELAY"
    case .paused: "PAUSED"
    case .notPaused: "NOT_PAUSED"
    case .queueFull, .noticesNotTaken: "QUEUE_FULL"
    case .zoneNotRunning: "ZONE_NOT_RUNNING"
    case .nothingToSkip: "NOTHING_TO_SKIP"
    case .inFault: "IN_FAULT"
    case .emergencyStopped: "EMERGENCY_STOPPED"
    case .offNotConfirmed: "OFF_NOT_CONFIRMED"
    case .nothingToReset: "NOTHING_TO_RESET"
    case .stale: "STALE"
    case .shutDown: "SHUT_DOWN"
    }
  }

  /// The value of a metric's label.
  var word: String { code.lowercased() }

  private var sentence: String {
    switch self {
    case .noSuchZone: "there is no such zone"
    case .zoneDisabled: "it is disabled"
    case .zoneHasNoLine: "it has no line at present"
    case .invalidDuration: "a run lasts 1…86,400 s"
    case .longerThanMaximum: "it may not run that long"
    case .dayLimitReached: "it has run all it may today"
    case .rainDelay: "there is a rain delay"
    case .paused: "it is paused; resume first"
    case .notPaused: "it is not paused"
    case .queueFull: "too many runs are queued or open"
    case .noticesNotTaken: "the daemon is behind with its book-keeping"
    case .zoneNotRunning: "it is not running"
    case .noSuchRun: "no such run is queued or open"
    case .nothingToSkip: "nothing is open"
    case .noSuchLine: "there is no such line"
    case .lineTaken: "the pin is another zone's"
    case .noSuchGroup: "there is no such group"
    case .zoneOpen: "its pin changes only while it is closed"
    case .inFault: "it is in fault; reset it"
    case .emergencyStopped: "it is emergency-stopped; reset it"
    case .offNotConfirmed: "the lines have not taken the off yet"
    case .nothingToReset: "it is neither emergency-stopped nor in fault"
    case .stale: "the request waited too long for the loop; send it again"
    case .shutDown: "the daemon is shutting down"
    }
  }
}

extension SprinklerRequest.Order {
  /// The zone that it is about.
  var zone: ZoneID? {
    switch self {
    case .run(let run, _): run.zone
    case .extend(let zone, _), .off(let zone, _), .ranToday(let zone, _), .zone(let zone, _): zone
    default: nil
    }
  }
}
