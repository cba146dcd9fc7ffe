import Pump

/// The water, the skin and the motor of a simulated pump: what `GET /api/sim/pump` shows.
public struct SimulatedPump: Sendable {
  private let world: PumpWorld

  public init(_ world: PumpWorld) { self.world = world }

  var document: SimulatedPumpDocument { SimulatedPumpDocument(world.reading) }
}

/// The simulated world as the pump's loop last saw or made it.
struct SimulatedPumpDocument: Encodable {
  let ok = true
  /// What is there, not what a sensor says.
  let waterCelsius, skinCelsius: Double
  /// Of the motor, 0…255.
  let duty: Int
  /// Of the water, 0…1.
  let flow: Double

  init(_ reading: PumpWorld.Reading) {
    (waterCelsius, skinCelsius, flow) = (reading.waterCelsius, reading.skinCelsius, reading.flow)
    duty = Int(reading.duty.duty)
  }
}
