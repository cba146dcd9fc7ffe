import Service
import Sprinkler

// Zones, queue, rain delay: what people do by hand.
extension SprinklerDoor {
  var routes: [Route] {
    let all =
      zoneRoutes + queueRoutes + rainRoutes + scheduleRoutes + recordRoutes
      + (description.hasLegacyRoutes ? legacyRoutes : [])
    return all.map { route in
      Self.needNoStore.contains("\(route.method.rawValue) \(route.path)")
        ? route : route.requiring { [desk] () throws(APIError) in try desk.requireLoaded() }
    }
  }

  /// What can be asked while the store could not be read: what the loop and the configuration know, and all that only closes valves.
  /// A new route needs the store until it is listed here.
  static let needNoStore: Set<String> = [
    "GET /api/sprinkler", "GET /api/sprinkler/settings", "GET /api/pins", "GET /api/queue", "DELETE /api/queue",
    "POST /api/sprinkler/e-stop", "POST /api/sprinkler/reset", "POST /api/zone/{id}/off",
    "POST /api/stop", "POST /api/pause", "POST /zone/off/{n}", "POST /api/pin/{bcm}/off",
  ]

  private var zoneRoutes: [Route] {
    let (version, make) = ({ @Sendable [self] in self.version }, { @Sendable [self] in encodeJSON(document(ok: true)) })
    var on = Route(.post, "/api/zone/{id}/on", scope: .control, action: "sprinkler.on") { [self] request in
      let zone = try zone(request)
      let body = try request.decodeIfGiven(ZoneOnBody.self) ?? ZoneOnBody()
      return try await turnOn(zone, body, request.caller)
    }
    var off = Route(.post, "/api/zone/{id}/off", scope: .control, action: "sprinkler.off") { [self] request in
      if let closed = try await closeUnknown(request, zone: "id") { return closed }
      return try await turnOff(try zone(request), request.caller)
    }
    on.loggedParameters = ["id": "zoneId"]
    off.loggedParameters = ["id": "zoneId"]
    return [
      Route("/api/sprinkler", PreparedDocument(version: version, make: make)),
      Route(.post, "/api/sprinkler/e-stop", scope: .control, action: "sprinkler.e-stop") { [self] request in
        try await emergencyStop(request.caller)
        return done()
      },
      Route(.post, "/api/sprinkler/reset", scope: .control, action: "sprinkler.reset") { [self] request in
        try await reset(request.caller)
        return done()
      },
      Route(.get, "/api/sprinkler/settings") { [self] _ in .json(SettingsDocument(description)) },
      Route(.get, "/api/pins") { [self] _ in .json(pins) },
      Route(.get, "/api/zones") { [self] _ in
        .json(ZonesDocument(zones: zones(desk.newest, desk.view, at: desk.now)))
      },
      Route(.put, "/api/zones", scope: .admin, action: "sprinkler.zones") { [self] request in
        let zones = try request.decode(ZonesBody.self, listAs: "zones").applied(to: desk.view.records.zones)
        try check(zones)
        _ = try await desk.perform(.setZones(zones), request.caller)
        return .json(
          ZonesDocument(zones: self.zones(desk.newest, desk.view, at: desk.now)), logValue: "zones=\(zones.count)")
      },
      on, off,
    ]
  }

  /// A zone that is on: 200 with what it does now.
  func turnOn(_ zone: Zone, _ body: ZoneOnBody, _ caller: Caller) async throws -> APIResponse {
    try refuseIfStopped()
    if let seconds = body.seconds, seconds > zone.maximumSeconds {
      throw APIError.validation(
        "minutes", expected: "at most \(zone.maximumSeconds) s, the longest run of zone \(zone.id)", got: "\(seconds) s"
      )
    }
    let command: SprinklerCommand =
      if body.extends, let seconds = body.seconds {
        .zoneExtend(zone.id, seconds: seconds, active: desk.newest[zone.id].run?.id)
      } else {
        .zoneOn(zone.id, seconds: body.seconds)
      }
    let result = try await desk.perform(command, caller)
    var response = zoneAnswer(
      zone.id, warning: rainWarning(result))
    response.logFields["minutes"] = WateringTime.text(body.seconds ?? zone.defaultSeconds)
    if body.extends { response.logFields["mode"] = "extend" }
    return response
  }

  /// The valve first, then the book-keeping.
  func turnOff(_ zone: Zone, _ caller: Caller) async throws -> APIResponse {
    let result = try await desk.perform(
      .zoneOff(zone.id), caller, first: .off(zone.id, dropsQueued: true))
    return zoneAnswer(zone.id, warning: notKept(result))
  }

  /// While the store could not be read it is not known which zones there are: whatever is to be closed, every valve is.
  ///
  /// - Parameter zone: the path's parameter that is a zone's number.
  /// - Returns: `nil` if the zones are known.
  func closeUnknown(_ request: APIRequest, zone parameter: String? = nil) async throws -> APIResponse? {
    guard !desk.view.isLoaded else { return nil }
    let number = parameter.flatMap { request.parameters[$0] }.flatMap { Int($0) }
    if parameter != nil, number.flatMap({ ZoneID($0) }) == nil {
      throw APIError.notFound("expected a zone 1…\(ZoneID.maximum)")
    }
    let result = try await desk.perform(.stopAll, request.caller, first: .allOff)
    return .json(
      ZoneDoneDocument(zoneId: number, isOn: false, remainingSec: 0, zone: nil, warning: notKept(result)), logValue: "")
  }

  func rainWarning(_ result: SprinklerDesk.Done) -> String? {
    result.rainWarning.map { "there is a rain delay until \(WallTimeText.text($0.until))" }
  }

  /// What is to be said of closed valves while the store takes nothing.
  private func notKept(_ result: SprinklerDesk.Done) -> String? {
    if !desk.view.isLoaded, let failure = result.storeFailure {
      return "every valve is closed; zones are not known, and none opens: \(failure)"
    }
    return (result.storeFailure ?? desk.view.storeFailure).map {
      "the valve is closed; the store does not take it yet, and after a power cut before it does the run may go on: \($0)"
    }
  }

  private var queueRoutes: [Route] {
    [
      Route(.get, "/api/queue") { [self] _ in queueAnswer() },
      Route(.post, "/api/queue", scope: .control, action: "sprinkler.queue") { [self] request in
        let body = try request.decode(RunOnceBody.self)
        return try await run(body, body.goesFirst ? .runNext(body.steps) : .runOnce(body.steps), request.caller)
      },
      Route(.delete, "/api/queue", scope: .control, action: "sprinkler.clear") { [self] request in
        let result = try await desk.perform(.clearQueue, request.caller, first: .clearQueue)
        return queueAnswer(warning: notKept(result), logValue: "")
      },
      Route(.delete, "/api/queue/{run}", scope: .control, action: "sprinkler.remove") { [self] request in
        let text = request.parameters["run"] ?? ""
        guard let run = UInt64(text) else { throw APIError.notFound("no run \(text.prefix(20)) is queued or open") }
        let result = try await desk.remove(run: run, request.caller)
        return queueAnswer(warning: notKept(result), logValue: "run=\(run)")
      },
      Route(.post, "/api/queue/skip", scope: .control, action: "sprinkler.skip") { [self] request in
        let result = try await desk.skip()
        return queueAnswer(warning: notKept(result), logValue: "")
      },
      Route(.post, "/api/run-once", scope: .control, action: "sprinkler.run-once") { [self] request in
        let body = try request.decode(RunOnceBody.self)
        return try await run(body, body.goesFirst ? .runNext(body.steps) : .runOnce(body.steps), request.caller)
      },
      Route(.post, "/api/stop", scope: .control, action: "sprinkler.stop") { [self] request in
        let result = try await desk.perform(.stopAll, request.caller, first: .allOff)
        return queueAnswer(warning: notKept(result), logValue: "")
      },
      Route(.post, "/api/pause", scope: .control, action: "sprinkler.pause") { [self] request in
        let seconds = (try request.decodeIfGiven(PauseBody.self) ?? PauseBody()).seconds ?? WateringTime.longestSeconds
        let result = try await desk.perform(
          .pause(seconds: seconds), request.caller, first: .pause(seconds: UInt32(clamping: seconds)))
        return queueAnswer(warning: notKept(result), logValue: "seconds=\(seconds)")
      },
      Route(.post, "/api/resume", scope: .control, action: "sprinkler.resume") { [self] request in
        _ = try await desk.perform(.resume, request.caller)
        return queueAnswer(logValue: "")
      },
    ]
  }

  private func run(_ body: RunOnceBody, _ command: SprinklerCommand, _ caller: Caller) async throws -> APIResponse {
    try refuseIfStopped()
    let result = try await desk.perform(command, caller)
    return queueAnswer(
      runs: result.runs, warning: rainWarning(result),
      logValue: "zones=\(body.steps.map { "\($0.zone):\($0.seconds)" }.joined(separator: ","))")
  }

  private var rainRoutes: [Route] {
    [
      Route(.get, "/api/rain-delay") { [self] _ in rainAnswer() },
      Route(.post, "/api/rain-delay", scope: .control, action: "sprinkler.rain-delay") { [self] request in
        try await setRain(try request.decodeIfGiven(RainDelayBody.self) ?? RainDelayBody(), request.caller)
      },
      Route(.delete, "/api/rain-delay", scope: .control, action: "sprinkler.rain-delay") { [self] request in
        _ = try await desk.perform(.cancelRainDelay, request.caller)
        return rainAnswer(logValue: "off")
      },
    ]
  }

  func setRain(_ body: RainDelayBody, _ caller: Caller) async throws -> APIResponse {
    guard body.isActive else {
      _ = try await desk.perform(.cancelRainDelay, caller)
      return rainAnswer(logValue: "off")
    }
    let seconds = body.seconds ?? description.rainDelayHours * 3600
    _ = try await desk.perform(.setRainDelay(seconds: seconds), caller)
    return rainAnswer(logValue: "seconds=\(seconds)")
  }

  // MARK: rules

  func zone(_ request: APIRequest) throws(APIError) -> Zone {
    try zone(number: request.parameters["id"] ?? "")
  }

  func zone(number text: String) throws(APIError) -> Zone {
    guard let number = Int(text), let zone = desk.view.records.zones.first(where: { $0.id.number == number }) else {
      throw .notFound("no zone \(text.prefix(20)); GET /api/zones lists them")
    }
    return zone
  }

  /// What opens valves is refused before it is written down. A fault in between is the loop's to refuse.
  func refuseIfStopped() throws(APIError) {
    switch desk.newest.state {
    case .emergencyStopped: throw IrrigationRefusal.emergencyStopped.error()
    case .fault: throw IrrigationRefusal.inFault.error()
    case .shutDown: throw IrrigationRefusal.shutDown.error()
    case .idle, .watering, .paused: break
    }
  }

  /// Pins that are not there or not free, groups that are not there, zones that schedules need.
  private func check(_ zones: [Zone]) throws(APIError) {
    var owners: [Int: ZoneID] = [:]
    let newest = desk.newest
    for (index, zone) in zones.enumerated() {
      let field = "zones[\(index)].gpioPin"
      let pins = description.zoneLines.map { String($0.pin) }.joined(separator: ", ")
      if description.deniedPins.contains(zone.gpioPin) {
        throw .zoneDenied("pin \(zone.gpioPin) is never used (sprinkler.denied_pins); there is \(pins)", field: field)
      }
      guard description.line(zone.gpioPin) != nil else {
        throw .zoneDenied(
          "pin \(zone.gpioPin) is none of those that the configuration gives zones: \(pins)", field: field)
      }
      if let owner = owners[zone.gpioPin] {
        throw .gpioBusy("pin \(zone.gpioPin) is zone \(owner)'s", field: field)
      }
      owners[zone.gpioPin] = zone.id
      let before = desk.view.records.zones.first { $0.id == zone.id }
      if let before, before.gpioPin != zone.gpioPin, newest[zone.id].run != nil {
        throw .gpioBusy("zone \(zone.id) is running; its pin changes only while it is closed", field: field)
      }
      if let group = zone.group, group > description.groups.count {
        throw .validation(
          "zones[\(index)].group", expected: "one of the \(description.groups.count) configured groups", got: "\(group)"
        )
      }
    }
    for program in desk.view.records.programs {
      if let step = program.steps.first(where: { step in !zones.contains { $0.id == step.zone } }) {
        throw .validation(
          "zones", expected: "zone \(step.zone), which schedule \(program.id) (\(program.name)) waters", got: "none")
      }
    }
  }

  // MARK: answers

  func done(logValue: String? = nil) -> APIResponse { .json(DoneDocument(), logValue: logValue) }

  /// Its line in the log says what the pin is at now, too.
  private func zoneAnswer(_ id: ZoneID, warning: String?) -> APIResponse {
    let (newest, view, now) = (desk.newest, desk.view, desk.now)
    let zone = view.records.zones.first { $0.id == id }
      .map { ZoneDocument($0, status: newest[id], at: now, description: description) }
    var response = APIResponse.json(
      ZoneDoneDocument(
        zoneId: Int(id.number), isOn: newest[id].isOn, remainingSec: newest[id].remaining(at: now)?.wholeSecondsUp ?? 0,
        zone: zone, warning: warning))
    response.logFields["zoneId"] = "\(id)"
    if let pin = pins.first(where: { $0.zoneId == Int(id.number) }) {
      response.logFields["pin"] = "\(pin.pin)"
      response.logFields["pinValue"] = pin.value.map { "\($0)" }
    }
    return response
  }

  func rainAnswer(logValue: String? = nil) -> APIResponse {
    .json(RainDoneDocument(rainDelay: RainDocument(rainDelay(desk.view))), logValue: logValue)
  }

  private func queueAnswer(runs: [UInt64]? = nil, warning: String? = nil, logValue: String? = nil) -> APIResponse {
    let newest = desk.newest
    return .json(
      QueueDocument(
        state: newest.state.word, queue: queue(newest, at: desk.now, desk.wallNow), queueCount: newest.queueCount,
        runIds: runs,
        warning: warning),
      logValue: logValue)
  }
}

private struct ZonesDocument: Encodable {
  let ok = true
  let zones: [ZoneDocument]
}

/// What `on` and `off` are answered with.
private struct ZoneDoneDocument: Encodable {
  let ok = true
  /// Absent: every zone.
  let zoneId: Int?
  let isOn: Bool
  /// 0: it is closed.
  let remainingSec: Int
  let zone: ZoneDocument?
  let warning: String?
}

private struct RainDoneDocument: Encodable {
  let ok = true
  let rainDelay: RainDocument
}

private struct QueueDocument: Encodable {
  let ok = true
  let state: String
  let queue: [SprinklerDocument.Queued]
  let queueCount: Int
  /// Those that this request has made.
  let runIds: [UInt64]?
  let warning: String?
}

/// What the configuration fixes: `GET /api/sprinkler/settings`.
private struct SettingsDocument: Encodable {
  struct Pin: Encodable {
    let pin: Int
    let activeLow: Bool
  }
  let ok = true
  let backend: String
  let pins: [Pin]
  let deniedPins: [Int]
  @OrNull var masterPin: Int?
  let maxOpen: Int
  /// Of group 1, 2, ….
  let groups: [Int]
  let stationDelaySec: Int
  let timeZone: String
  let manualInRain: String
  let runningInRain: String
  let rainDelayHours: Int
  @OrNull var weather: String?

  init(_ description: SprinklerDescription) {
    backend = description.backend
    pins = description.zoneLines.map { Pin(pin: $0.pin, activeLow: $0.isActiveLow) }
    deniedPins = description.deniedPins
    _masterPin = OrNull(wrappedValue: description.hasMaster ? description.lines.last?.pin : nil)
    maxOpen = description.maximumOpen
    groups = description.groups
    stationDelaySec = description.stationDelaySeconds
    timeZone = description.timeZone.identifier
    manualInRain = description.manualInRain
    runningInRain = description.stopsInRain ? "stop" : "finish"
    rainDelayHours = description.rainDelayHours
    _weather = OrNull(wrappedValue: description.weather)
  }
}
