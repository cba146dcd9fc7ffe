import Plants
import Service

/// One simulated soil as `/api/sim/plants` shows it.
struct SimulatedSoilDocument: Encodable {
  let sensor: String
  let moisturePercent, celsius: Double
  let fault: String

  init(_ soil: SimulatedSoil) {
    sensor = soil.sensor.text
    (moisturePercent, celsius) = (tenth(soil.moisturePercent), tenth(soil.celsius))
    fault = soil.fault.rawValue
  }
}

/// The body of `POST /api/sim/plants/{sensor}`: what is not given stays as it is.
struct SimulatedSoilBody: JSONReadable {
  private let moisturePercent, celsius: Double?
  private let fault: SimulatedSoil.Fault?

  init(_ body: inout JSONReader) throws(APIError) {
    moisturePercent = try body.optional("moisturePercent", .number(0...100))
    celsius = try body.optional("celsius", .number(0...85))
    fault = try body.optional("fault", .choice(SimulatedSoil.Fault.allCases.map(\.rawValue)))
      .flatMap(SimulatedSoil.Fault.init)
    body.ignore("sensor")
    body.ignore("ok")
  }

  func apply(to soil: SimulatedSoil) { soil.set(moisturePercent: moisturePercent, celsius: celsius, fault: fault) }
}

extension SimulatedGarden {
  /// `/api/sim/plants`
  var routes: [Route] {
    [
      Route(.get, "/api/sim/plants") { [self] _ in .json(SoilsDocument(soils: soils.map(SimulatedSoilDocument.init))) },
      Route(.post, "/api/sim/plants/{sensor}", scope: .admin, action: "sim.soil") { [self] request in
        let text = request.parameters["sensor"] ?? ""
        guard let soil = PlantSensorID(text).flatMap({ self[$0] }) else {
          throw APIError.notFound(
            "no sensor \(text.prefix(40)); there is \(soils.map(\.sensor.text).joined(separator: ", "))")
        }
        try request.decode(SimulatedSoilBody.self).apply(to: soil)
        return .json(SoilDoneDocument(soil: SimulatedSoilDocument(soil)), logValue: "sensor=\(soil.sensor)")
      },
    ]
  }
}

private struct SoilsDocument: Encodable {
  let ok = true
  let soils: [SimulatedSoilDocument]
}

private struct SoilDoneDocument: Encodable {
  let ok = true
  let soil: SimulatedSoilDocument
}
