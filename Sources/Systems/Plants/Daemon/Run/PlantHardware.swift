import Buses
import BusesLinux
import Devices
import Plants
import TactusDaemon

/// The probes' buses of a configuration, real or simulated. Must outlive the loop that reads them.
final class PlantHardware {
  /// nil when the probes are real.
  let garden: SimulatedGarden?
  private let real: LinuxI2CBus?
  private let realPort: LinuxSPIPort?

  /// Opens the buses that probes are on. Nothing is asked yet.
  init(_ plants: Configuration.Plants, simulate: Bool) throws(BusOpenError) {
    if simulate || plants.backend == .sim {
      garden = SimulatedGarden(plants.sensors.map(\.monitored), clock: .monotonic)
      (real, realPort) = (nil, nil)
      return
    }
    garden = nil
    let addresses = Set(plants.sensors.compactMap(\.address))
    if addresses.isEmpty {
      real = nil
    } else {
      let chips = Set(plants.sensors.map(\.chip))
      var operations: [I2CTransfer.Operation] = chips.contains(.seesaw) ? [.plainWrite, .plainRead] : []
      if chips.contains(.ads1115) { operations += [.writeBlock, .readBlock] }
      let bus = try LinuxI2CBus(number: plants.i2cBus, operations: operations)
      for address in addresses.sorted() { try bus.claim(I2CAddress(address)!) }
      real = bus
    }
    realPort =
      plants.sensors.contains { $0.address == nil } ? try LinuxSPIPort(path: plants.spiDevice) : nil
  }

  /// For the one loop that reads them, or `nil` if no probe is on I2C.
  func bus() -> I2CBus? {
    if let real { return real.port() }
    if let bus = garden?.bus { return bus.port() }
    return nil
  }

  /// For the same loop, or `nil` if no probe is on SPI.
  func port() -> SPIPort? {
    if let realPort { return realPort.port() }
    if let port = garden?.port { return port.port() }
    return nil
  }
}
