@_spi(FromOutside) import Conversions
import Service
import Sprinkler
import TactusDaemon

/// The sprinkler's routes. They read the loop's snapshots and the desk's view; commands go through the desk.
struct SprinklerRoutes: Sendable {
  let desk: SprinklerDesk

  var description: SprinklerDescription { desk.description }
  func seen() -> SprinklerSeen { desk.seen() }

  var all: [Route] {
    let all =
      zoneRoutes + queueRoutes + rainRoutes + scheduleRoutes + recordRoutes
      + (description.hasLegacyRoutes ? legacyRoutes : [])
    return all.map { route in
      Self.needNoStore.contains("\(route.method.rawValue) \(route.path)")
        ? route : route.requiring { [desk] () throws(APIError) in try desk.requireLoaded() }
    }
  }

  /// The routes that work although the store could not be read: those that need only the loop and the configuration, and those that only close
  /// valves. A new route requires the store unless it is listed here.
  static let needNoStore: Set<String> = [
    "GET /api/sprinkler/settings", "GET /api/pins", "GET /api/queue", "DELETE /api/queue",
    "POST /api/sprinkler/e-stop", "POST /api/sprinkler/reset", "POST /api/zone/{id}/off",
    "POST /api/stop", "POST /api/pause", "POST /zone/off/{n}", "POST /api/pin/{bcm}/off",
  ]

  // MARK: zones, queue, rain delay: what people do by hand

  private var zoneRoutes: [Route] {
    var on = Route(.post, "/api/zone/{id}/on", scope: .control, action: "sprinkler.on") { [self] request in
      let zone = try zone(request)
      let body = try request.decodeIfGiven(ZoneOnBody.self) ?? ZoneOnBody()
      return try await turnOn(zone, body, request.caller)
    }
    var off = Route(.post, "/api/zone/{id}/off", scope: .control, action: "sprinkler.off") { [self] request in
      if let closed = try await closeUnknown(request, zone: "id") { return closed }
      return try await turnOff(try zone(request), request.caller)
    }.makingSafe()
    on.loggedParameters = ["id": "zoneId"]
    off.loggedParameters = ["id": "zoneId"]
    return [
      Route(.post, "/api/sprinkler/e-stop", scope: .control, action: "sprinkler.e-stop") { [self] request in
        try await desk.emergencyStop(request.caller)
        return done()
      }.makingSafe(),
      Route(.post, "/api/sprinkler/reset", scope: .control, action: "sprinkler.reset") { [self] request in
        try await desk.reset(request.caller)
        return done()
      },
      Route(.get, "/api/sprinkler/settings") { [self] _ in APIResponse(description) },
      Route(.get, "/api/pins") { [self] _ in
        APIResponse(contentType: "application/json", body: SprinklerFields.pins.json(seen().pins))
      },
      Route(.get, "/api/zones") { [self] _ in APIResponse(ZonesAnswer(zones: seen().zones)) },
      Route(.put, "/api/zones", scope: .admin, action: "sprinkler.zones") { [self] request in
        let zones = try request.decode(ZonesBody.self, listAs: "zones").applied(to: desk.view.records.zones)
        try check(zones)
        _ = try await desk.perform(.setZones(zones), request.caller)
        return APIResponse(ZonesAnswer(zones: seen().zones), logValue: "zones=\(zones.count)")
      },
      on, off, forgetFlow,
    ]
  }

  /// The route that forgets the learnt flow of a zone.
  private var forgetFlow: Route {
    Route(.delete, "/api/zone/{id}/flow", scope: .control, action: "sprinkler.forget-flow") { [self] request in
      let zone = try zone(request)
      _ = try await desk.perform(.forgetFlow(zone.id), request.caller)
      return zoneAnswer(zone.id, warning: nil)
    }
  }

  /// Turns a zone on, and answers 200 with its new state.
  func turnOn(_ zone: Zone, _ body: ZoneOnBody, _ caller: Caller) async throws -> APIResponse {
    try desk.refuseIfStopped()
    if let seconds = body.seconds, seconds > zone.maximumSeconds {
      throw APIError.validation(
        "minutes",
        expected: "at most \(WateringTime.inBothUnits(zone.maximumSeconds)), "
          + "the longest run of zone \(zone.id) (\(zone.name))",
        got: WateringTime.inBothUnits(seconds))
    }
    let command: SprinklerCommand =
      if body.extends, let seconds = body.seconds {
        .zoneExtend(zone.id, seconds: seconds, active: desk.newest[zone.id].run?.id)
      } else {
        .zoneOn(zone.id, seconds: body.seconds, litres: body.litres)
      }
    let result = try await desk.perform(command, caller)
    var response = zoneAnswer(
      zone.id, warning: rainWarning(result))
    if let litres = body.litres { response.logFields["litres"] = "\(litres)" }
    if body.litres == nil || body.seconds != nil {
      response.logFields["minutes"] = WateringTime.text(body.seconds ?? zone.defaultSeconds)
    }
    if body.extends { response.logFields["mode"] = "extend" }
    return response
  }

  /// Closes the valve first, then updates the records.
  func turnOff(_ zone: Zone, _ caller: Caller) async throws -> APIResponse {
    let result = try await desk.perform(
      .zoneOff(zone.id), caller, first: .off(zone.id, dropsQueued: true))
    return zoneAnswer(zone.id, warning: notKept(result))
  }

  /// Closes every valve if the store could not be read, since it is then unknown which zones there are.
  ///
  /// - Parameters:
  ///   - request: the request to close a zone or a pin.
  ///   - zone: the name of the path's parameter that is a zone's number, or `nil` if the path names no zone.
  /// - Returns: The answer, or `nil` if the zones are known and nothing was closed.
  func closeUnknown(_ request: APIRequest, zone parameter: String? = nil) async throws -> APIResponse? {
    guard !desk.view.isLoaded else { return nil }
    let number = parameter.flatMap { request.parameters[$0] }.flatMap { Int($0) }
    if parameter != nil, number.flatMap({ ZoneID($0) }) == nil {
      throw APIError.notFound("expected a zone 1…\(ZoneID.maximum)")
    }
    let result = try await desk.perform(.stopAll, request.caller, first: .allOff)
    return APIResponse(ZoneAnswer(zoneId: number, zone: nil, warning: notKept(result)), logValue: "")
  }

  func rainWarning(_ result: SprinklerDesk.Done) -> String? {
    result.rainWarning.map { "there is a rain delay until \(WallTimeText.text($0.until))" }
  }

  /// Returns the warning that a valve was closed but the store has not accepted the change, or `nil` if it has.
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
      Route(.post, "/api/queue", scope: .control, action: "sprinkler.queue") { [self] in try await run($0) },
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
        let result = try await desk.skip(request.caller)
        return queueAnswer(warning: notKept(result), logValue: "")
      },
      Route(.post, "/api/run-once", scope: .control, action: "sprinkler.run-once") { [self] in try await run($0) },
      Route(.post, "/api/stop", scope: .control, action: "sprinkler.stop") { [self] request in
        let result = try await desk.perform(.stopAll, request.caller, first: .allOff)
        return queueAnswer(warning: notKept(result), logValue: "")
      }.makingSafe(),
      Route(.post, "/api/pause", scope: .control, action: "sprinkler.pause") { [self] request in
        let seconds = (try request.decodeIfGiven(PauseBody.self) ?? PauseBody()).seconds ?? WateringTime.longestSeconds
        let result = try await desk.perform(
          .pause(seconds: seconds), request.caller, first: .pause(seconds: UInt32(clamping: seconds)))
        return queueAnswer(warning: notKept(result), logValue: "seconds=\(seconds)")
      }.makingSafe(),
      Route(.post, "/api/resume", scope: .control, action: "sprinkler.resume") { [self] request in
        _ = try await desk.perform(.resume, request.caller)
        return queueAnswer(logValue: "")
      },
    ]
  }

  private func run(_ request: APIRequest) async throws -> APIResponse {
    let body = try request.decode(RunOnceBody.self)
    try desk.refuseIfStopped()
    let result = try await desk.perform(
      body.goesFirst ? .runNext(body.steps) : .runOnce(body.steps), request.caller)
    return queueAnswer(
      runs: result.runs, warning: rainWarning(result),
      logValue: "zones=\(body.steps.map { "\($0.zone):\($0.seconds)" }.joined(separator: ","))")
  }

  private var rainRoutes: [Route] {
    [Route(.get, "/api/rain-delay") { [self] _ in rainAnswer() }] + rainChanges(at: "/api/rain-delay")
  }

  func rainChanges(at path: String) -> [Route] {
    [
      Route(.post, path, scope: .control, action: "sprinkler.rain-delay") { [self] request in
        try await setRain(try request.decodeIfGiven(RainDelayBody.self) ?? RainDelayBody(), request.caller)
      },
      Route(.delete, path, scope: .control, action: "sprinkler.rain-delay") { [self] request in
        try await liftRain(request.caller)
      },
    ]
  }

  private func liftRain(_ caller: Caller) async throws -> APIResponse {
    _ = try await desk.perform(.cancelRainDelay, caller)
    return rainAnswer(logValue: "off")
  }

  func setRain(_ body: RainDelayBody, _ caller: Caller) async throws -> APIResponse {
    guard body.isActive else { return try await liftRain(caller) }
    let seconds = body.seconds ?? description.rainDelayHours * 3600
    _ = try await desk.perform(.setRainDelay(seconds: seconds), caller)
    return rainAnswer(logValue: "seconds=\(seconds)")
  }

  // MARK: rules

  private func zone(_ request: APIRequest) throws(APIError) -> Zone {
    let text = request.parameters["id"] ?? ""
    guard let number = Int(text), let zone = desk.view.records.zones.first(where: { $0.id.number == number }) else {
      throw .notFound("no zone \(text.prefix(20)); GET /api/zones lists them")
    }
    return zone
  }

  /// Refuses zones with pins that are missing or in use, with groups that are not configured, and lists that lack a zone of a schedule.
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
          "pin \(zone.gpioPin) is not one of the pins that the configuration gives zones: \(pins)", field: field)
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
          "zones",
          expected: "zone \(step.zone), which schedule \(program.id) (\(program.name)) waters, since the list replaces "
            + "all zones and one that is left out is removed",
          got: "none")
      }
    }
  }

  // MARK: answers

  func done(logValue: String? = nil) -> APIResponse { .json(DoneDocument(), logValue: logValue) }

  /// Answers with the zone's state. The access log also gets the level of its pin.
  private func zoneAnswer(_ id: ZoneID, warning: String?) -> APIResponse {
    let (seen, number) = (seen(), Int(id.number))
    var response = APIResponse(
      ZoneAnswer(zoneId: number, zone: seen.zones.first { $0.id == number }, warning: warning))
    response.logFields["zoneId"] = "\(id)"
    if let pin = seen.pins.first(where: { $0.zoneId == number }) {
      response.logFields["pin"] = "\(pin.line.pin)"
      response.logFields["pinValue"] = pin.value.map { "\($0)" }
    }
    return response
  }

  func rainAnswer(logValue: String? = nil) -> APIResponse {
    APIResponse(RainAnswer(rain: seen().rain), logValue: logValue)
  }

  private func queueAnswer(runs: [UInt64]? = nil, warning: String? = nil, logValue: String? = nil) -> APIResponse {
    APIResponse(QueueAnswer(seen: seen(), runs: runs, warning: warning), logValue: logValue)
  }
}
