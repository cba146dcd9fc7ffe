import Buses
import Tactus
import TactusDaemon

/// Sets the line of a simulated sensor: active while a fault is on.
struct SimulatedContact: ~Copyable, ControlLoop, NoOutput {
  private var driver: SimulatedGPIODriver
  private let isActiveHigh: Bool
  private let fault: FaultSwitch
  private var wasActive = false

  init(_ driver: consuming SimulatedGPIODriver, isActiveHigh: Bool, _ fault: FaultSwitch) {
    self.driver = driver
    self.isActiveHigh = isActiveHigh
    self.fault = fault
    // The line is inactive before the first reading.
    self.driver.set(isHigh: !isActiveHigh, at: .zero)
  }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    let isActive = fault.isOn()
    guard isActive != wasActive else { return }
    wasActive = isActive
    driver.set(isHigh: isActive == isActiveHigh, at: tick.started)
  }
}

extension Sprinkler {
  /// Opens the rain sensor's line, if there is one. Returns it with the loop of a simulated sensor.
  static func openRainSensor(_ bench: Bench<Wiring>) throws -> (line: InputPart?, twins: [Loop]) {
    guard let input = bench.wiring.rainInput else { return (nil, []) }
    let part = try bench.edges(input, of: \.rainPin)
    guard bench.isSimulated else { return (part, []) }
    let rain = bench.fault("rain", "The rain sensor is wet.")
    return (
      part,
      bench.twin("sprinkler.rain", every: .period(.milliseconds(100))) {
        SimulatedContact(part.driver(), isActiveHigh: !input.line.isActiveLow, rain)
      }
    )
  }
}
