@_spi(FromOutside) import Conversions
import Service
import Sprinkler
import TactusDaemon

extension SprinklerRefusal {
  /// The API's error for the refusal of a command.
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

  /// Returns the API's name for a field, given the name of the property in the scheduler.
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
  /// Returns the error 403 `ZONE_DENY`, for a zone or a pin that may not be used.
  static func zoneDenied(_ message: String, field: String?) -> APIError {
    APIError(.forbidden, "ZONE_DENY", message, field: field)
  }

  /// Returns the error 409 `GPIO_BUSY`, for a pin or a valve that is in use at the moment.
  static func gpioBusy(_ message: String, field: String? = nil) -> APIError {
    APIError(.conflict, "GPIO_BUSY", message, field: field)
  }
}

// The module of the control does not depend on the daemon, so the conformance is declared here.
// swift-format-ignore: AvoidRetroactiveConformances
extension IrrigationRefusal: @retroactive RefusalWord {
  public var sentence: String { description }
}

extension IrrigationRefusal {
  /// Returns the API's error for the refusal of a request.
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
    case .invalidAmount: .validation("litres", expected: "0.1…100000", got: "another number")
    case .rainDelay:
      APIError(.init(code: 423, reasonPhrase: "Locked"), "RAIN_DELAY", "\(subject): \(sentence)")
    case .noSuchRun: .notFound(sentence)
    case .dayLimitReached: .conflict("DAY_LIMIT", "\(subject): \(sentence)")
    case .noticesNotTaken: .conflict(Self.queueFull.code, "\(subject): \(sentence)")
    default: .conflict(code, "\(subject): \(sentence)")
    }
  }

  /// Returns whether the refusal means that the order's purpose is fulfilled already.
  func isHarmless(for order: SprinklerOrder) -> Bool {
    switch (self, order) {
    case (.zoneNotRunning, .off), (.noSuchRun, .cancel), (.nothingToSkip, .skip), (.notPaused, .resume): true
    case (.emergencyStopped, _), (.inFault, _), (.shutDown, _): order.isStop || order.run == nil
    default: false
    }
  }
}

extension SprinklerOrder {
  /// Whether the order can only close valves.
  var isStop: Bool {
    switch self {
    case .off, .cancel, .allOff, .skip, .clearQueue, .pause, .emergencyStop: true
    case .run, .extend, .resume, .rain, .dayBegan, .ranToday, .zone, .reset, .query: false
    }
  }

  /// The part of the sprinkler that the order stops or allows to open, or `nil` if it does neither. An order without a part is not overtaken by a
  /// stop and overtakes nothing.
  var part: SystemPart? {
    switch self {
    case .run(let run, _): .item(Int(run.zone.number))
    case .extend(let zone, _), .off(let zone, _): .item(Int(zone.number))
    case .allOff, .pause, .emergencyStop, .skip, .resume, .reset: .whole
    case .cancel, .clearQueue, .rain, .dayBegan, .ranToday, .zone, .query: nil
    }
  }

  /// The number of the run that the order makes, or `nil` if it makes none.
  var run: UInt64? {
    if case .run(let run, _) = self { run.id } else { nil }
  }

  /// The zone that the order concerns, or `nil` if it concerns no single zone.
  var zone: ZoneID? {
    switch self {
    case .run(let run, _): run.zone
    case .extend(let zone, _), .off(let zone, _), .ranToday(let zone, _), .zone(let zone, _): zone
    default: nil
    }
  }
}
