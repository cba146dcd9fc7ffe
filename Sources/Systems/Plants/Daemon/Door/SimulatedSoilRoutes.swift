import Plants
import Service
import TactusDaemon

/// The body of `POST /api/sim/plants/{sensor}`; members that are missing stay as they are.
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
  /// The routes under `/api/sim/plants`.
  var routes: [Route] {
    [
      Route(.get, "/api/sim/plants") { [self] _ in APIResponse(SoilsAnswer(soils: soils)) },
      Route(.post, "/api/sim/plants/{sensor}", scope: .admin, action: "sim.soil") { [self] request in
        let text = request.parameters["sensor"] ?? ""
        guard let soil = PlantSensorID(text).flatMap({ self[$0] }) else {
          throw APIError.notFound(
            "no sensor \(text.prefix(40)); there is \(soils.map(\.sensor.text).joined(separator: ", "))")
        }
        try request.decode(SimulatedSoilBody.self).apply(to: soil)
        return APIResponse(SoilAnswer(soil: soil), logValue: "sensor=\(soil.sensor)")
      },
    ]
  }
}

private struct SoilsAnswer: Answers {
  let soils: [SimulatedSoil]
  static var fields: [Field<Self>] { Items("soils", \.soils, each: "soil") { SimulatedSoil.fields } }
}

private struct SoilAnswer: Answers {
  let soil: SimulatedSoil
  static var fields: [Field<Self>] { Group("soil", \.soil) { SimulatedSoil.fields } }
}

extension SimulatedSoil {
  /// The fields of a soil in `/api/sim/plants`.
  @DeclarationBuilder<Field<SimulatedSoil>> fileprivate static var fields: [Field<SimulatedSoil>] {
    Field("sensor", \.sensor.text, "The probe in it.")
    Field("moisturePercent", \.moisturePercent.tenths, unit: .percent, "How wet it is.")
    Field("celsius", \.celsius.tenths, unit: .celsius, "How warm it is.")
    Field("fault", \.fault.rawValue, "What is wrong with the probe's wire.")
  }
}
