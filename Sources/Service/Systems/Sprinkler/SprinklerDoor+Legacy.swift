import Sprinkler

// The routes of the original Python backend, with its shapes and codes, for apps that know nothing newer.
extension SprinklerDoor {
  var legacyRoutes: [Route] {
    [
      Route(.get, "/status") { [self] _ in .json(legacyStatus) },
      Route(.post, "/zone/on/{n}", scope: .control, action: "sprinkler.on") { [self] request in
        let zone = try legacyZone(request)
        let body = try request.decodeIfGiven(LegacyMinutes.self) ?? LegacyMinutes()
        return try await legacyOn(zone, seconds: body.seconds, request.caller)
      },
      Route(.post, "/zone/off/{n}", scope: .control, action: "sprinkler.off") { [self] request in
        if let closed = try await closeUnknown(request) { return closed }
        return try await turnOff(try legacyZone(request), request.caller)
      },
      Route(.post, "/rain-lock", scope: .control, action: "sprinkler.rain-delay") { [self] request in
        try await setRain(try request.decodeIfGiven(RainDelayBody.self) ?? RainDelayBody(), request.caller)
      },
      Route(.delete, "/rain-lock", scope: .control, action: "sprinkler.rain-delay") { [self] request in
        _ = try await desk.perform(.cancelRainDelay, request.caller)
        return rainAnswer(logValue: "off")
      },
      Route(.post, "/api/pin/{bcm}/on", scope: .control, action: "sprinkler.on") { [self] request in
        let body = try request.decodeIfGiven(LegacyMinutes.self)
        return try await legacyOn(try legacyPin(request), seconds: body?.seconds, request.caller)
      },
      Route(.post, "/api/pin/{bcm}/off", scope: .control, action: "sprinkler.off") { [self] request in
        if let closed = try await closeUnknown(request) { return closed }
        return try await turnOff(try legacyPin(request), request.caller)
      },
    ]
  }

  /// A zone that is open already: 409, as the original said.
  private func legacyOn(_ zone: Zone, seconds: Int?, _ caller: Caller) async throws -> APIResponse {
    if desk.newest[zone.id].isOn { throw APIError.conflict("GPIO_BUSY", "zone \(zone.id) is running already") }
    return try await turnOn(zone, ZoneOnBody(seconds: seconds), caller)
  }

  /// By place, from 1; 400 for a number that no zone has.
  private func legacyZone(_ request: APIRequest) throws(APIError) -> Zone {
    let zones = desk.view.records.zones
    guard let place = Int(request.parameters["n"] ?? ""), zones.indices.contains(place - 1) else {
      throw APIError(.badRequest, "ZONE_RANGE", "expected a zone 1…\(zones.count)")
    }
    return zones[place - 1]
  }

  /// 404 for a pin that is no zone's.
  private func legacyPin(_ request: APIRequest) throws(APIError) -> Zone {
    let pin = Int(request.parameters["bcm"] ?? "")
    guard let zone = desk.view.records.zones.first(where: { $0.gpioPin == pin }) else {
      throw .notFound("pin \(request.parameters["bcm"]?.prefix(20) ?? "") is no zone's")
    }
    return zone
  }

  private var legacyStatus: LegacyStatusDocument {
    let (newest, view, wall) = (desk.newest, desk.view, desk.wallNow)
    let rain = rainDelay(view)
    let isAutomatic = if case .weather = rain?.reason { true } else { false }
    return LegacyStatusDocument(
      version: "tactus", last_updated: WallTimeText.text(wall),
      pins: view.records.zones.map {
        .init(pin: $0.gpioPin, name: $0.name, is_active: newest[$0.id].isOn, is_enabled: $0.isEnabled)
      },
      schedules: view.records.programs.map { .init($0, view.records.zones) },
      rain: .init(
        is_active: rain != nil, ends_at: rain.map { WallTimeText.text($0.until) },
        duration_hours: rain.map { max(0, Int(($0.until - wall + 3599) / 3600)) }, chance_percent: nil,
        threshold_percent: nil, zip_code: nil, automation_enabled: description.weather != nil || isAutomatic))
  }
}

/// `{"minutes":1…720}`, 30 unless given.
private struct LegacyMinutes: JSONReadable {
  let seconds: Int

  init() { seconds = 30 * 60 }

  init(_ body: inout JSONReader) throws(APIError) {
    seconds = (try body.optional("minutes", .integer(1...720)) ?? 30) * 60
  }
}

// The original's names.
// swift-format-ignore: AlwaysUseLowerCamelCase
private struct LegacyStatusDocument: Encodable {
  struct Pin: Encodable {
    let pin: Int
    let name: String
    let is_active, is_enabled: Bool
  }
  struct Step: Encodable { let pin, duration: Int }
  struct Schedule: Encodable {
    let id: String
    let name: String
    /// Minutes of all zones.
    let duration: Int
    let start_time: String
    let days: [String]
    let is_enabled: Bool
    let sequence: [Step]

    init(_ program: Program, _ zones: [Zone]) {
      let document = ScheduleDocument(program)
      id = String(program.id)
      name = program.name
      duration = program.steps.reduce(0) { $0 + $1.seconds } / 60
      start_time = document.startTimes.first ?? ""
      days = document.days ?? []
      is_enabled = program.isEnabled
      sequence = program.steps.map { step in
        Step(pin: zones.first { $0.id == step.zone }?.gpioPin ?? 0, duration: step.seconds / 60)
      }
    }
  }
  struct Rain: Encodable {
    let is_active: Bool
    @OrNull var ends_at: String?
    @OrNull var duration_hours: Int?
    @OrNull var chance_percent: Int?
    @OrNull var threshold_percent: Int?
    @OrNull var zip_code: String?
    let automation_enabled: Bool
  }
  let version: String
  let last_updated: String
  let pins: [Pin]
  let schedules: [Schedule]
  let rain: Rain
}
