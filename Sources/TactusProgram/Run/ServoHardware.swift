import Buses
import BusesLinux
import Devices

/// The servos' chip of a configuration on its bus, real or simulated. Must outlive the loop that drives it.
final class ServoHardware {
  /// nil when the chip is real.
  let simulator: PCA9685Simulator?
  /// What faults can be injected into; nil when the chip is real.
  let simulatedBus: SimulatedI2CBus?
  private let real: LinuxI2CBus?

  /// Opens the bus, or makes a simulated one. Nothing is written yet.
  init(_ legs: Configuration.Legs, simulate: Bool, seed: UInt64 = 1) throws(BusOpenError) {
    if simulate || legs.backend == .sim {
      var parameters = PCA9685Simulator.Parameters()
      // So that what is commanded is what the servos see.
      parameters.oscillator = legs.chip.timing.oscillator
      let simulator = PCA9685Simulator(parameters)
      let bus = SimulatedI2CBus(seed: seed)
      bus.attach(simulator.chip, at: legs.chip.address)
      (self.simulator, simulatedBus, real) = (simulator, bus, nil)
    } else {
      let bus = try LinuxI2CBus(number: legs.i2cBus)
      try bus.claim(legs.chip.address)
      (simulator, simulatedBus, real) = (nil, nil, bus)
    }
  }

  /// For the loop that drives it, and once more when that loop has ended.
  func bus() -> I2CBus { real?.port() ?? simulatedBus!.port() }
}
