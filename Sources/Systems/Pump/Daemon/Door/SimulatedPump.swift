@_spi(FromOutside) import Conversions
import Pump
import Service

/// The water, the skin and the motor of a simulated pump, as `GET /api/sim/pump` returns them.
struct SimulatedPump: Sendable {
  private let world: PumpWorld

  init(_ world: PumpWorld) { self.world = world }

  /// The route `GET /api/sim/pump`.
  var routes: [Route] { [Route(.get, "/api/sim/pump") { _ in .json(document) }] }

  var document: SimulatedPumpDocument { SimulatedPumpDocument(world.reading) }
}

/// The state of the simulated world as of the loop's last access.
struct SimulatedPumpDocument: Encodable {
  let ok = true
  /// The true temperatures, which can differ from the readings of the sensors.
  let waterCelsius, skinCelsius: Double
  /// The duty of the motor, 0…255.
  let duty: Int
  /// The flow of the water, 0…1.
  let flow: Double

  init(_ reading: PumpWorld.Reading) {
    (waterCelsius, skinCelsius, flow) = (reading.waterCelsius, reading.skinCelsius, reading.flow)
    duty = Int(reading.duty.duty)
  }
}

extension SimulatedPump: SimulatedTwin {
  public var kind: String { "pump" }
  public var faultNames: [SimulatedFault.Name] {
    [.sensorOpen, .sensorShort, .overheat, .dryRun, .inputsGone, .outputGone]
  }

  public func inject(_ fault: SimulatedFault) {
    let isWater = fault.sensor == .water
    switch fault.fault {
    case .sensorOpen: world.inject(isWater ? .waterSensorOpen : .skinSensorOpen)
    case .sensorShort: world.inject(isWater ? .waterSensorShorted : .skinSensorShorted)
    case .overheat: world.holdSkin(celsius: Double(fault.celsius ?? Self.feverCelsius))
    case .dryRun: world.inject(.dryRun)
    case .inputsGone: world.inject(.inputsGone)
    default: world.inject(.outputGone)
    }
  }

  /// A simulated body temperature above every limit of the pump.
  private static var feverCelsius: Int { 41 }

  public func clearFaults() {
    for fault in PumpWorld.Fault.allCases { world.clear(fault) }
    world.holdSkin(celsius: nil)
  }

  public func activeFaults(of name: String) -> [SimulatedFault] {
    var faults: [SimulatedFault] = PumpWorld.Fault.allCases.filter(world.has).compactMap { fault in
      func sensor(_ fault: SimulatedFault.Name, _ sensor: SimulatedFault.Sensor) -> SimulatedFault {
        var found = SimulatedFault(fault, bus: name)
        found.sensor = sensor
        return found
      }
      switch fault {
      case .waterSensorOpen: return sensor(.sensorOpen, .water)
      case .waterSensorShorted: return sensor(.sensorShort, .water)
      case .skinSensorOpen: return sensor(.sensorOpen, .skin)
      case .skinSensorShorted: return sensor(.sensorShort, .skin)
      case .dryRun: return SimulatedFault(.dryRun, bus: name)
      case .inputsGone: return SimulatedFault(.inputsGone, bus: name)
      case .outputGone: return SimulatedFault(.outputGone, bus: name)
      case .stuck: return nil
      }
    }
    if let held = world.heldSkinCelsius {
      var fever = SimulatedFault(.overheat, bus: name)
      fever.celsius = Int(saturating: held)
      faults.append(fever)
    }
    return faults
  }
}
