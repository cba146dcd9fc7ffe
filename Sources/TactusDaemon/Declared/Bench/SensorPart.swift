import Buses
import BusesLinux
import Logging
import Service
import Tactus

/// A sensor of the kernel that a bench has opened. The bench keeps it alive.
public final class SensorPart {
  /// The name of the sensor in the file.
  public let name: KernelSensorName
  let real: LinuxSensor?
  private let simulated: SimulatedSensor?
  let latest = Latest(SensorReading(0, at: .zero, error: .notYet))
  let rate: Rate
  private let limit: Nanoseconds
  private var wasInTrouble = false

  init(
    _ name: KernelSensorName, measures quantity: KernelQuantity, every rate: Rate, staleAfter limit: Nanoseconds,
    isReal: Bool, root: String = ""
  ) {
    (self.name, self.rate, self.limit) = (name, rate, limit)
    real = isReal ? LinuxSensor(name, measures: quantity, root: root) : nil
    simulated = isReal ? nil : SimulatedSensor()
  }

  /// Returns the input for the one loop that reads the sensor.
  public func port() -> SensorInput {
    simulated?.port(staleAfter: limit) ?? SensorInput(latest.reader(), staleAfter: limit)
  }

  /// Returns the end by which a twin sets the value that the sensor measures. The function traps for a real sensor, because that has no twin.
  public func driver() -> SimulatedSensorDriver { simulated!.driver() }

  /// The file that cannot be read and the reason, or `nil` if the sensor is read or simulated.
  public var trouble: String? { real?.trouble }

  /// Returns the part under `/api/sim` for sensors that share their faults, or `nil` if they are real.
  static func simulatedPart(_ name: String, of parts: [SensorPart]) -> SimulatedBus? {
    let sensors = parts.compactMap(\.simulated)
    return sensors.isEmpty ? nil : SimulatedBus(name, .twin(SensorTwin(sensors: sensors)))
  }

  /// Logs that the sensor has failed, or that it is read again.
  func log(to logger: Logger) {
    let trouble = trouble
    defer { wasInTrouble = trouble != nil }
    if let trouble, !wasInTrouble {
      logger.error("a sensor cannot be read", metadata: ["sensor": "\(name)", "failure": .string(trouble)])
    } else if trouble == nil, wasInTrouble {
      logger.notice("a sensor is read again", metadata: ["sensor": "\(name)"])
    }
  }
}

/// A sensor of three axes that a bench has opened: three sensors of one chip.
public final class AxesPart {
  private let axes: [SensorPart]
  private let mounting: Mounting

  /// Creates the part from the sensors of x, y and z.
  init(_ axes: [SensorPart], mounted mounting: Mounting) { (self.axes, self.mounting) = (axes, mounting) }

  /// Returns the input for the one loop that reads the sensor.
  public func port() -> AxesInput {
    AxesInput(x: axes[0].port(), y: axes[1].port(), z: axes[2].port(), mounted: mounting)
  }

  /// Returns the end by which a twin sets the values that the sensor measures. The function traps for a real sensor, because that has no twin.
  public func driver() -> SimulatedAxesDriver {
    SimulatedAxesDriver(x: axes[0].driver(), y: axes[1].driver(), z: axes[2].driver(), mounted: mounting)
  }

  /// The file that cannot be read and the reason, or `nil` if all axes are read or simulated.
  public var trouble: String? { axes.lazy.compactMap(\.trouble).first }
}

/// A simulated sensor, or the sensors of one chip's axes, as a part that clients can disturb.
private struct SensorTwin: SimulatedTwin {
  let sensors: [SimulatedSensor]

  var kind: String { "sensor" }
  var faultNames: [SimulatedFault.Name] { [.gone, .silence] }
  func inject(_ fault: SimulatedFault) {
    for sensor in sensors { sensor.inject(fault.fault == .gone ? .gone : .silence) }
  }
  func clearFaults() {
    for sensor in sensors { sensor.inject(.none) }
  }
  func activeFaults(of name: String) -> [SimulatedFault] {
    switch sensors[0].activeFault {
    case .none: []
    case .gone: [SimulatedFault(.gone, bus: name)]
    case .silence: [SimulatedFault(.silence, bus: name)]
    }
  }
}
