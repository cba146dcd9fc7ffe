import Foundation
import Plants
import Service
import Store
import Tactus

// Plants, probes and alerts over HTTP.
extension PlantDoor {
  var routes: [Route] {
    // Looks read the desk's view, which never waits.
    let all =
      (plantRoutes + fileRoutes + sensorRoutes).map { $0.action == nil ? $0 : $0.waitingForDisk() }
      + historyRoutes.map { $0.waitingForDisk() }
    return all.map { route in
      Self.needNoStore.contains("\(route.method.rawValue) \(route.path)")
        ? route
        : route.requiring { [desk] () throws(APIError) in
          let view = desk.view
          if !view.isLoaded { throw desk.store.notRead(view.storeFailure) }
        }
    }
  }

  /// What can be asked while the store could not be read.
  static let needNoStore: Set<String> = ["GET /api/plants", "GET /api/plants/sensors"]

  private var plantRoutes: [Route] {
    [
      Route(.get, "/api/plants") { [self] request in
        _ = try QueryReader(request.query, names: ["user"])
        return .json(document(ok: true, user: request.query["user"] == nil ? nil : try user(request)))
      },
      Route(.post, "/api/plants", scope: .control, action: "plants.add") { [self] request in
        let body = try request.decode(NewPlantBody.self)
        let changes = try desk.perform(body.command(desk.rules), for: body.user)
        guard case .plant(let plant)? = changes.first else { preconditionFailure("a plant that was added is a change") }
        return answer(plant, status: .created)
      },
      Route(.get, "/api/plants/{id}") { [self] request in answer(try plant(request), isAction: false) },
      Route(.put, "/api/plants/{id}", scope: .control, action: "plants.edit") { [self] request in
        let present = try plant(request)
        let body = try request.decode(PlantBody.self)
        try desk.perform(.edit(name: present.name.text, body.edit), for: present.user)
        return answer(try plant(request))
      },
      Route(.delete, "/api/plants/{id}", scope: .control, action: "plants.delete") { [self] request in
        let present = try plant(request)
        try desk.perform(.delete(name: present.name.text), for: present.user)
        return .json(DoneDocument(), logValue: "plant=\(present.id)")
      },
      Route(.post, "/api/plants/{id}/watered", scope: .control, action: "plants.watered") { [self] request in
        let present = try plant(request)
        try desk.perform(.watered(name: present.name.text, at: desk.wall()), for: present.user)
        return answer(try plant(request))
      },
      Route(.post, "/api/plants/{id}/confirm-watering", scope: .control, action: "plants.confirm-watering") {
        [self] request in
        try desk.confirmWatering(of: try plant(request))
        return answer(try plant(request))
      },
    ]
  }

  /// The original host's file of one user, `userdata/NAME.json`: to come from there, and to go back.
  private var fileRoutes: [Route] {
    var take = Route(.post, "/api/plants/file", scope: .control, action: "plants.import") { [self] request in
      let user = try user(request)
      guard let file = PlantUserFile(json: String(decoding: request.body, as: UTF8.self)) else {
        throw APIError(
          .unprocessableContent, "VALIDATION",
          #"body: expected [{"Name": "Basil", "Sensors": "[\"0x36\"]"}], got something else"#, field: "body")
      }
      try desk.add(file, for: user)
      return .json(document(ok: true, user: user), logValue: "plants=\(file.entries.count)")
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
      Route(.get, "/api/plants/sensors") { [self] _ in .json(SensorsDocument(sensors: sensors(desk.view))) },
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

  func plant(_ request: APIRequest) throws(APIError) -> Plant {
    let text = request.parameters["id"] ?? ""
    guard let number = UInt64(text), let plant = desk.view.records.plants.first(where: { $0.id.number == number })
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
      guard let reading = view.readings[sensor.id], desk.now() - reading.at < desk.staleAfter else {
        throw PlantRefusal(.noPlantDataToRequest, "")
      }
      if case .dryIsNow = wanted { return try sensor.probe.calibration(dry: reading.raw, wet: present.wet) }
      return try sensor.probe.calibration(dry: present.dry, wet: reading.raw)
    } catch {
      guard error.tag == .noPlantDataToRequest else { throw error.apiError }
      throw .conflict("SENSOR_SILENT", "\(sensor.id) has not been read lately: there is nothing to calibrate by")
    }
  }

  // MARK: answers

  private func answer(_ plant: Plant, status: HTTPStatus = .ok, isAction: Bool = true) -> APIResponse {
    let view = desk.view
    let newest = view.records.plants.first { $0.id == plant.id } ?? plant
    return .json(
      PlantDoneDocument(plant: document(newest, view)), status: status,
      logValue: isAction ? "plant=\(plant.id) name=\(newest.name)" : nil)
  }

  private func answer(_ id: PlantSensorID, logValue: String) throws(APIError) -> APIResponse {
    guard let sensor = sensors(desk.view).first(where: { $0.id == id.text }) else { throw .notFound("no sensor \(id)") }
    return .json(SensorDoneDocument(sensor: sensor), logValue: logValue)
  }
}

private struct PlantDoneDocument: Encodable {
  let ok = true
  let plant: PlantDocument
}

private struct SensorsDocument: Encodable {
  let ok = true
  let sensors: [PlantSensorDocument]
}

private struct SensorDoneDocument: Encodable {
  let ok = true
  let sensor: PlantSensorDocument
}
