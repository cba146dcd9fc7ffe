import Buses
import BusesLinux
import Devices
import TactusDaemon

/// The servos' chip of a configuration on its bus, real or simulated. Must outlive the loop that drives it.
final class ServoHardware {
  /// nil when the chip is real.
  let simulator: PCA9685Simulator?
  /// What faults can be injected into; nil when the chip is real.
  let simulatedBus: SimulatedI2CBus?
  private let real: LinuxI2CBus?
  /// The battery's converter by its address; empty: there is none, or it is real.
  let simulatedConverters: [UInt8: ADS1115Simulator]
  /// The line at the chip's output-enable pin, or `nil` if it is not wired, or simulated.
  let heldLine: LinuxGPIOLines?
  /// The header of simulated servos, or `nil` if it is not wired, or real.
  let simulatedBank: SimulatedGPIOBank?
  private let simulatedLine: SimulatedGPIOLines?
  /// Where the output-enable line is on the simulated header.
  let simulatedOutputEnable: (bank: SimulatedGPIOBank, line: Int)?

  /// Opens the bus, or makes a simulated one. Nothing is written yet; the output-enable line is inactive from its request on.
  ///
  /// - Throws: `BusOpenError`, `HeaderLineError`, `GPIORequestError`.
  init(_ legs: Configuration.Legs, simulate: Bool, seed: UInt64 = 1) throws {
    let line = legs.outputEnable.map { GPIOLine($0, isActiveLow: true) }
    if simulate || legs.backend == .sim {
      var parameters = PCA9685Simulator.Parameters()
      // So that what is commanded is what the servos see.
      parameters.oscillator = legs.chip.timing.oscillator
      let simulator = PCA9685Simulator(parameters)
      let bus = SimulatedI2CBus(seed: seed, clock: .monotonic)
      bus.attach(simulator.chip, at: legs.chip.address)
      let converter = legs.battery.map { _ in ADS1115Simulator() }
      if let battery = legs.battery, let converter {
        // Two lithium cells.
        converter.set(battery.channel, Microvolts(Int64(saturating: 7_400_000 / battery.divider)))
        bus.attach(converter.chip, at: battery.sensor.converter.address)
      }
      simulatedConverters = converter.map { [legs.battery!.i2cAddress: $0] } ?? [:]
      (self.simulator, simulatedBus, real, heldLine) = (simulator, bus, nil, nil)
      guard let line else {
        (simulatedBank, simulatedLine, simulatedOutputEnable) = (nil, nil, nil)
        return
      }
      let bank = SimulatedGPIOBank(clock: .monotonic)
      simulatedBank = bank
      simulatedLine = try bank.outputs([line])
      simulatedOutputEnable = (bank, try bank.number(line.name))
    } else {
      let bus = try LinuxI2CBus(number: legs.i2cBus)
      try bus.claim(legs.chip.address)
      if let battery = legs.battery { try bus.claim(battery.sensor.converter.address) }
      (simulator, simulatedBus, real, simulatedBank, simulatedLine) = (nil, nil, bus, nil, nil)
      (simulatedConverters, simulatedOutputEnable) = ([:], nil)
      heldLine = try line.map { try HeaderLines.request([$0]) }
    }
  }

  /// For the loop that drives it, or `nil` if it is not wired.
  func outputEnable() -> GPIOLines? {
    if let heldLine { return heldLine.port() }
    if let simulatedLine { return simulatedLine.port() }
    return nil
  }

  /// For the loop that drives it, and once more when that loop has ended.
  func bus() -> I2CBus { real?.port() ?? simulatedBus!.port() }
}
