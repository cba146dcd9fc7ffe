@_spi(FromOutside) import Conversions
import Foundation
import Plants
import Service
import Store
import Tactus
import TactusDaemon
import Wire

/// The HTTP routes of plants, probes and alerts: `/api/plants`.
///
/// Read requests use the desk's view and the loop's snapshot; commands go through the desk. No route moves an actuator.
struct PlantRoutes: Sendable {
  let desk: PlantDesk
  /// The host's name for the app's clients, or `nil` if the app is not served.
  let hostName: String?
  /// The daily pictures, or `nil` if none are taken.
  let pictures: PlantPictures?
  /// The user of plants that were added through the API and not by the app.
  static let ownUser = PlantUser(sender: "tactus")
  private static let document = StateDocument(of: "plants", PlantSeen.fields)

  init(_ desk: PlantDesk, hostName: String?, pictures: PlantPictures? = nil) {
    (self.desk, self.hostName, self.pictures) = (desk, hostName, pictures)
  }

  var all: [Route] {
    // Routes that only read use the desk's view, which never waits for the disk.
    let all =
      (plantRoutes + fileRoutes + sensorRoutes).map { $0.action == nil ? $0 : $0.waitingForDisk() }
      + historyRoutes.map { $0.waitingForDisk() }
      // A camera may need longer than a disk.
      + pictureRoutes.map { $0.waitingForDisk(longest: $0.action == nil ? DiskThreads.patience : .seconds(60)) }
    return all.map { route in
      Self.needNoStore.contains("\(route.method.rawValue) \(route.path)")
        ? route
        : route.requiring { [desk] () throws(APIError) in
          let view = desk.view
          if !view.isLoaded { throw desk.store.notRead(view.storeFailure) }
        }
    }
  }

  /// The routes that work while the store cannot be read.
  static let needNoStore: Set<String> = ["GET /api/plants", "GET /api/plants/sensors"]

  private var plantRoutes: [Route] {
    [
      Route(.get, "/api/plants") { [self] request in
        _ = try QueryReader(request.query, names: ["user"])
        return all(of: request.query["user"] == nil ? nil : try user(request))
      },
      Route(.post, "/api/plants", scope: .control, action: "plants.add") { [self] request in
        let body = try request.decode(NewPlantBody.self)
        let changes = try desk.perform(body.command(desk.rules), for: body.user)
        guard case .plant(let plant)? = changes.first else { preconditionFailure("a plant that was added is a change") }
        return answer(plant, status: .created)
      },
      Route(.get, "/api/plants/{id}") { [self] request in answer(try plant(request), isAction: false) },
      Route(.put, "/api/plants/{id}", scope: .control, action: "plants.edit") { [self] request in
        let present = try plant(request, toChange: true)
        let body = try request.decode(PlantBody.self)
        try desk.perform(.edit(name: present.name.text, body.edit), for: present.user)
        return answer(try plant(request))
      },
      Route(.delete, "/api/plants/{id}", scope: .control, action: "plants.delete") { [self] request in
        let present = try plant(request, toChange: true)
        try desk.perform(.delete(name: present.name.text), for: present.user)
        return APIResponse(Done(), logValue: "plant=\(present.id)")
      },
      Route(.post, "/api/plants/{id}/watered", scope: .control, action: "plants.watered") { [self] request in
        let present = try plant(request, toChange: true)
        try desk.perform(.watered(name: present.name.text, at: desk.wall()), for: present.user)
        return answer(try plant(request))
      },
      Route(.post, "/api/plants/{id}/confirm-watering", scope: .control, action: "plants.confirm-watering") {
        [self] request in
        try desk.confirmWatering(of: try plant(request, toChange: true))
        return answer(try plant(request))
      },
      Route(.get, "/api/plants/{id}/label.svg") { [self] request in
        let plant = try plant(request)
        let most = PlantLabel.greatestPageLength
        guard let page = try QueryReader(request.query, names: ["page"]).page("page", atMost: most) else {
          throw APIError.validation("page", expected: PageAddress.rule(atMost: most), got: "nothing")
        }
        return APIResponse(
          contentType: "image/svg+xml",
          headers: [.contentDisposition: #"attachment; filename="plant-\#(plant.id).svg""#],
          body: Array(PlantLabel(plant: plant, page: page).svg.utf8))
      },
    ]
  }

  /// The routes for the original host's file of one user, `userdata/NAME.json`, to import plants from the original host and to export them.
  private var fileRoutes: [Route] {
    var take = Route(.post, "/api/plants/file", scope: .control, action: "plants.import") { [self] request in
      let user = try user(request)
      guard let file = PlantUserFile(json: String(decoding: request.body, as: UTF8.self)) else {
        throw APIError(
          .unprocessableContent, "VALIDATION",
          #"body: expected [{"Name": "Basil", "Sensors": "[\"0x36\"]"}], got something else"#, field: "body")
      }
      try desk.add(file, for: user)
      return all(of: user, logValue: "plants=\(file.entries.count)")
    }
    take.fileLimit = 1 << 16
    return [
      take,
      Route(.get, "/api/plants/file") { [self] request in
        let user = try user(request)
        let plants = desk.view.records.plants.filter { $0.user == user }
        let file = PlantUserFile(plants.map { .init(name: $0.name.text, sensors: $0.sensors.map(\.text)) })
        return APIResponse(
          contentType: "application/json",
          headers: [.contentDisposition: #"attachment; filename="plants.json""#], body: Array(file.json.utf8))
      },
    ]
  }

  private var sensorRoutes: [Route] {
    [
      Route(.get, "/api/plants/sensors") { [self] _ in
        APIResponse(ProbesAnswer(sensors: desk.probes(desk.view, desk.newest)))
      },
      Route(.post, "/api/plants/sensors/{sensor}/calibrate", scope: .control, action: "plants.calibrate") {
        [self] request in
        let sensor = try sensor(request)
        let points = try points(try request.decode(PlantCalibrationBody.self).wanted, of: sensor)
        try desk.calibrate(sensor.id, points)
        return try answer(sensor.id, logValue: "sensor=\(sensor.id) dry=\(points.dry) wet=\(points.wet)")
      },
      Route(.delete, "/api/plants/sensors/{sensor}/calibrate", scope: .control, action: "plants.calibrate") {
        [self] request in
        let sensor = try sensor(request)
        try desk.calibrate(sensor.id, nil)
        return try answer(sensor.id, logValue: "sensor=\(sensor.id) own")
      },
    ]
  }

  // MARK: rules

  func plant(_ request: APIRequest, toChange: Bool = false) throws(APIError) -> Plant {
    let text = request.parameters["id"] ?? ""
    guard let number = UInt64(text),
      let plant = toChange
        ? desk.stored(number) : desk.view.records.plants.first(where: { $0.id.number == number })
    else {
      throw .notFound("no plant \(text.prefix(20)); GET /api/plants lists them")
    }
    return plant
  }

  private func user(_ request: APIRequest) throws(APIError) -> PlantUser {
    _ = try QueryReader(request.query, names: ["user"])
    let name = request.query["user"]
    guard let name, let user = PlantUser(name: name) else {
      throw .validation(
        "user", expected: PlantUser.expected, got: name.map { "\"\($0.prefix(80))\"" } ?? "nothing")
    }
    return user
  }

  private func sensor(_ request: APIRequest) throws(APIError) -> PlantMonitor.Sensor {
    let text = request.parameters["sensor"] ?? ""
    guard let sensor = PlantSensorID(text).flatMap({ id in desk.sensors.first { $0.id == id } }) else {
      throw .notFound("no sensor \(text.prefix(40)); there is \(desk.sensors.map(\.id.text).joined(separator: ", "))")
    }
    return sensor
  }

  private func points(
    _ wanted: PlantCalibrationBody.Wanted, of sensor: PlantMonitor.Sensor
  ) throws(APIError) -> PlantCalibration {
    let view = desk.view
    let present = sensor.calibration(view.records.calibrations[sensor.id])
    do throws(PlantRefusal) {
      if case .points(let dry, let wet) = wanted { return try sensor.probe.calibration(dry: dry, wet: wet) }
      guard let reading = view.readings[sensor.id], !view.impossible.contains(sensor.id),
        desk.now() - reading.at < desk.staleAfter
      else {
        throw PlantRefusal(.noPlantDataToRequest, "")
      }
      if case .dryIsNow = wanted { return try sensor.probe.calibration(dry: reading.raw, wet: present.wet) }
      return try sensor.probe.calibration(dry: present.dry, wet: reading.raw)
    } catch {
      guard error.tag == .noPlantDataToRequest else { throw error.apiError }
      throw .conflict(
        "SENSOR_SILENT",
        "\(sensor.id) has not been read lately, or reads what no soil is: there is nothing to calibrate by")
    }
  }

  // MARK: answers

  /// Returns the response with the state of all plants of a user.
  ///
  /// - Parameter user: the user whose plants are returned, or `nil` for the plants of all users.
  private func all(of user: PlantUser?, logValue: String? = nil) -> APIResponse {
    let newest = desk.newest
    let seen = PlantSeen(desk, newest, hostName: hostName, of: user, most: .max)
    let first: [JSONValue.Member] = [
      .init(name: "ok", value: .boolean(true)), .init(name: "monotonicNs", value: .number("\(newest.at.nanoseconds)")),
    ]
    return APIResponse(
      contentType: "application/json", body: Self.document.json(seen, after: first), logValue: logValue)
  }

  private func answer(_ plant: Plant, status: HTTPStatus = .ok, isAction: Bool = true) -> APIResponse {
    let view = desk.view
    let newest = view.records.plants.first { $0.id == plant.id } ?? plant
    return APIResponse(
      PlantAnswer(plant: SeenPlant(newest, view, desk.linkSettings[plant.id])), status: status,
      logValue: isAction ? "plant=\(plant.id) name=\(newest.name)" : nil)
  }

  private func answer(_ id: PlantSensorID, logValue: String) throws(APIError) -> APIResponse {
    guard let probe = desk.probes(desk.view, desk.newest).first(where: { $0.sensor.id == id }) else {
      throw .notFound("no sensor \(id)")
    }
    return APIResponse(ProbeAnswer(sensor: probe), logValue: logValue)
  }
}

private struct PlantAnswer: Answers {
  let plant: SeenPlant
  static var fields: [Field<Self>] { Group("plant", \.plant) { SeenPlant.fields } }
}

private struct ProbesAnswer: Answers {
  let sensors: [SeenProbe]
  static var fields: [Field<Self>] { Items("sensors", \.sensors, each: "sensor") { SeenProbe.fields } }
}

private struct ProbeAnswer: Answers {
  let sensor: SeenProbe
  static var fields: [Field<Self>] { Group("sensor", \.sensor) { SeenProbe.fields } }
}
