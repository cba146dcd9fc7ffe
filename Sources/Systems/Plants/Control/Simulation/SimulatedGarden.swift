import Buses
import Devices
import Tactus

/// Simulated probes on simulated buses, each in a separate simulated soil. It must outlive the loop that reads them.
public final class SimulatedGarden: Sendable {
  /// The I2C bus, or `nil` if no probe is on I2C.
  public let bus: SimulatedI2CBus?
  /// The SPI bus, or `nil` if no probe is on SPI.
  public let port: SimulatedSPIBus?
  /// The latest advertisements of the radio sensors, or `nil` if every probe is wired.
  public let air: Latest<SoilSightings>?
  /// The soils in the order of the probes.
  public let soils: [SimulatedSoil]

  /// Creates a garden with a separate soil for each sensor.
  ///
  /// - Parameters:
  ///   - sensors: no two are the same probe, and one address has one chip; anything else is a programming error.
  ///   - clock: the clock for the timestamps of the buses' records.
  public init(_ sensors: [PlantMonitor.Sensor], seed: UInt64 = 1, clock: RecordClock = .tick) {
    let bus = SimulatedI2CBus(seed: seed, clock: clock)
    var converters: [UInt8: ADS1115Simulator] = [:]
    let spi = MCP3008Simulator()
    let air = SimulatedAir()
    var soils: [SimulatedSoil] = []
    for (index, sensor) in sensors.enumerated() {
      let chip: SimulatedSoil.Chip
      switch sensor.probe {
      case .seesaw(let probe):
        let simulator = SeesawSoilSimulator()
        bus.attach(simulator.chip, at: probe.address)
        chip = .seesaw(simulator)
      case .ads1115(let probe, let channel):
        let simulator = converters[probe.address.value] ?? ADS1115Simulator()
        if converters.updateValue(simulator, forKey: probe.address.value) == nil {
          bus.attach(simulator.chip, at: probe.address)
        }
        chip = .ads1115(simulator, channel: channel)
      case .mcp3008(let channel): chip = .mcp3008(spi, channel: channel)
      case .radio: chip = .radio(air, probe: index)
      }
      // Each soil is a little drier than the one before, so that the page shows different plants.
      let percent = [62.0, 45, 31, 22][index % 4]
      soils.append(SimulatedSoil(sensor.id, chip, percent: percent, celsius: 21 + Double(index % 4) / 2))
    }
    self.soils = soils
    self.bus = sensors.contains { $0.probe.address != nil } ? bus : nil
    port = sensors.contains { $0.probe.isOnSPI } ? SimulatedSPIBus(spi.chip, clock: clock) : nil
    self.air = sensors.contains { $0.probe.radio != nil } ? air.sightings : nil
  }

  public subscript(sensor: PlantSensorID) -> SimulatedSoil? { soils.first { $0.sensor == sensor } }

  /// Advances the soils to `now`.
  public func beat(at now: TickInstant) { for soil in soils { soil.beat(at: now) } }
}
