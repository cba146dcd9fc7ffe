@_spi(FromOutside) import Conversions
import Service
import Sprinkler
import Tactus
import TactusDaemon
import WallTime

// The routes of the original Python backend, and routes that its app calls although that backend lacked them. Bodies
// and status codes are those that the app expects.
extension SprinklerRoutes {
  var legacyRoutes: [Route] { legacyBackendRoutes + rainChanges(at: "/rain-lock") + legacyAppRoutes }

  private var legacyBackendRoutes: [Route] {
    [
      Route(.get, "/status") { [self] _ in
        .json(LegacyStatusDocument(status: legacyStatus))
      },
      Route(.post, "/zone/on/{n}", scope: .control, action: "sprinkler.on") { [self] request in
        try await legacyOn(try legacyZone(request), request)
      },
      Route(.post, "/zone/off/{n}", scope: .control, action: "sprinkler.off") { [self] request in
        if let closed = try await closeUnknown(request) { return closed }
        return try await turnOff(try legacyZone(request), request.caller)
      }.makingSafe(),
      Route(.post, "/api/pin/{bcm}/on", scope: .control, action: "sprinkler.on") { [self] request in
        try await legacyOn(try legacyPin(request), request)
      },
      Route(.post, "/api/pin/{bcm}/off", scope: .control, action: "sprinkler.off") { [self] request in
        if let closed = try await closeUnknown(request) { return closed }
        return try await turnOff(try legacyPin(request), request.caller)
      }.makingSafe(),
    ]
  }

  /// The routes by which the app renames, disables and sorts pins. Callers that may open a zone may use them; the assignment of a zone to a line
  /// is left to administrators.
  private var legacyAppRoutes: [Route] {
    [
      Route(.post, "/api/pins/{bcm}", scope: .control, action: "sprinkler.zones") { [self] request in
        let zone = try legacyPin(request)
        let body = try request.decode(LegacyPinBody.self)
        let zones = desk.view.records.zones.map { present in
          guard present.id == zone.id else { return present }
          var changed = present
          if let name = body.name { changed.name = name }
          if let isEnabled = body.isEnabled { changed.isEnabled = isEnabled }
          return changed
        }
        _ = try await desk.perform(.setZones(zones), request.caller)
        return .json(LegacyPinsDocument(pins: legacyPins), logValue: "zone=\(zone.id)")
      },
      Route(.post, "/api/pins/reorder", scope: .control, action: "sprinkler.zones") { [self] request in
        let pins = try request.decode(LegacyPinOrderBody.self, listAs: "pins").pins
        let zones = desk.view.records.zones.inOrder(of: pins, by: \.gpioPin)
        _ = try await desk.perform(.setZones(zones), request.caller)
        return .json(LegacyPinsDocument(pins: legacyPins), logValue: "pins=\(zones.map(\.gpioPin))")
      },
      Route(.get, "/api/rain") { [self] _ in .json(legacyStatus.rain) },
      Route(.post, "/api/rain/settings", scope: .control, action: "sprinkler.rain-settings") { [self] request in
        try await legacyRainSettings(try request.decode(LegacyRainBody.self), request.caller)
      },
    ]
  }

  /// Switches the configured forecast on or off; place and threshold come from the configuration. Refuses to switch on if no forecast is
  /// configured.
  private func legacyRainSettings(_ body: LegacyRainBody, _ caller: Caller) async throws -> APIResponse {
    if let isWanted = body.isAutomatic {
      if description.weather != nil {
        _ = try await desk.perform(.setForecast(isOn: isWanted), caller)
      } else if isWanted {
        throw APIError.conflict(
          "SET_IN_FILE",
          "there is no forecast: put sprinkler.weather, a provider and a place into the configuration, then restart")
      }
    }
    let isForNothing = body.zipCode != nil || body.thresholdPercent != nil
    return .json(
      LegacyRainDocument(
        rain: legacyStatus.rain,
        warning: isForNothing
          ? "zip code and percentage are not used: place and threshold of the forecast are the configuration's" : nil),
      logValue: "automation=\(forecastIsOn(desk.view))")
  }

  /// Opens a zone, or lets an open one run that long from now. The default duration is 30 minutes, but never more than the zone's longest run.
  private func legacyOn(_ zone: Zone, _ request: APIRequest) async throws -> APIResponse {
    let seconds = try request.decodeIfGiven(LegacyMinutes.self)?.seconds ?? min(30 * 60, zone.maximumSeconds)
    return try await turnOn(zone, ZoneOnBody(seconds: seconds), request.caller)
  }

  /// Returns the zone at a position, from 1; throws 400 if there is none.
  private func legacyZone(_ request: APIRequest) throws(APIError) -> Zone {
    let zones = desk.view.records.zones
    guard let place = Int(request.parameters["n"] ?? ""), place >= 1, place <= zones.count else {
      throw APIError(.badRequest, "ZONE_RANGE", "expected a zone 1…\(zones.count)")
    }
    return zones[place - 1]
  }

  /// Returns the zone of a pin; throws 404 if the pin belongs to no zone.
  private func legacyPin(_ request: APIRequest) throws(APIError) -> Zone {
    let pin = Int(request.parameters["bcm"] ?? "")
    guard let zone = desk.view.records.zones.first(where: { $0.gpioPin == pin }) else {
      throw .notFound("pin \(request.parameters["bcm"]?.prefix(20) ?? "") is no zone's")
    }
    return zone
  }

  // MARK: what the app is shown

  private var legacyPins: [LegacyStatus.Pin] {
    let newest = desk.newest
    return desk.view.records.zones.map {
      .init(pin: $0.gpioPin, name: $0.name, isActive: newest[$0.id].isOn, isEnabled: $0.isEnabled)
    }
  }

  /// The members that the requirement wants at the top level of `/api/status`, and those for the original app if the configuration enables its
  /// routes.
  var statusMembers: [UInt8] {
    let began = desk.now
    let seen = seen()
    let nextRun = seen.nextRun
    let latency = Int(saturating: (desk.now - began).inMilliseconds.rounded())
    let own = SprinklerFields.status.json(SprinklerStatus(seen: seen, nextRun: nextRun, latencyMs: latency))
    guard description.hasLegacyRoutes else { return own }
    return own.dropLast() + [UInt8(ascii: ",")] + encodeJSON(legacyStatus).dropFirst()
  }

  private var legacyStatus: LegacyStatus {
    let (view, wall) = (desk.view, desk.wallNow)
    let rain = view.records.rainDelay
    let isAutomatic = if case .weather = rain?.reason { true } else { false }
    return LegacyStatus(
      lastUpdated: WallTimeText.text(wall), pins: legacyPins,
      schedules: view.records.programs.map { program in
        LegacySchedule(program, zones: view.records.zones) { clock($0, daysFromToday: 0) }
      },
      rain: .init(
        isActive: rain != nil, endsAt: rain.map { WallTimeText.text($0.until) },
        durationHours: rain.map { max(0, Int(($0.until - wall + 3599) / 3600)) },
        automationEnabled: forecastIsOn(view) || isAutomatic))
  }

  private func forecastIsOn(_ view: SprinklerView) -> Bool { description.weather != nil && view.records.isForecastOn }

  /// Returns the local time of a start as `HH:MM`. If the sun does not rise or set, the time is 06:00, which the app itself uses for a missing one.
  func clock(_ start: StartTime, daysFromToday days: Int) -> String {
    if case .clock = start { return ScheduleWords.text(start) }
    let calendar = ProgramCalendar(zone: description.timeZone, place: description.place)
    let today = description.timeZone.local(desk.wallNow).date.daysSince1970
    guard let at = calendar.instant(of: start, on: LocalDate(daysSince1970: today + days)) else { return "06:00" }
    return ScheduleWords.text(.clock(minute: description.timeZone.local(at).second / 60))
  }
}

extension Array {
  /// Returns the elements with these keys, in the order of the keys, then the others in their own order. Unknown keys are ignored, as the original
  /// backend did.
  func inOrder<Key: Hashable>(of keys: [Key], by key: (Element) -> Key) -> [Element] {
    var places: [Key: Int] = [:]
    for (place, key) in keys.enumerated() where places[key] == nil { places[key] = place }
    return enumerated().sorted { left, right in
      (places[key(left.element)] ?? keys.count, left.offset) < (places[key(right.element)] ?? keys.count, right.offset)
    }.map(\.element)
  }
}

/// The document of `GET /status`, with the members that `GET /api/status` has for the original app.
private struct LegacyStatusDocument: Encodable {
  let version = "tactus"
  let status: LegacyStatus

  private enum CodingKeys: CodingKey { case version }

  func encode(to encoder: any Encoder) throws {
    try status.encode(to: encoder)
    var object = encoder.container(keyedBy: CodingKeys.self)
    try object.encode(version, forKey: .version)
  }
}

private struct LegacyRainDocument: Encodable {
  let ok = true
  let rain: LegacyStatus.Rain
  let warning: String?
}

private struct LegacyPinsDocument: Encodable {
  let ok = true
  let pins: [LegacyStatus.Pin]
}
