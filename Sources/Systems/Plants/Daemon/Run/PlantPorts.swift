import Buses
import Devices
import Plants
import Service
import Tactus
import TactusDaemon

/// The buses of the probes and the listener for radio probes. They are real, or a simulated garden on simulated buses.
struct PlantPorts {
  private let garden: SimulatedGarden?
  private let ear: SoilEar?
  private let bus: I2CPart?
  private let spi: SPIPart?

  /// Claims names, chips and inputs. Several probes of one converter share its I2C address or its SPI chip select.
  init(_ bench: borrowing Bench<Plants.Wiring>) throws {
    let wiring = bench.wiring
    let isSimulated = bench.isSimulated || wiring.backend == .sim
    var (bus, spi): (I2CPart?, SPIPart?)
    var chips: [ResourceClaim.Resource: PlantSensorWiring.Chip] = [:]
    for (index, sensor) in wiring.sensors.enumerated() {
      let path = "plants.sensors[\(index)]"
      bench.claim(.part("the sensor name \(sensor.name.lowercased())"), key: "\(path).name")
      if let radio = sensor.radio, sensor.chip == .ble {
        bench.claim(.part("the sensor \(radio.text)"), key: "\(path).ble_address")
        continue
      }
      let resource = wiring.resource(of: sensor)
      if sensor.channel == nil || chips.updateValue(sensor.chip, forKey: resource) != sensor.chip {
        let key = sensor.address == nil ? "plants.spi_device" : "\(path).i2c_address"
        if isSimulated {
          bench.claim(resource, key: key)
        } else if let address = sensor.address {
          bus = try bench.i2c(
            \.i2cBus, chip: I2CAddress(address)!, safe: .none(because: "it is only read"),
            operations: wiring.operations, key: key)
        } else {
          spi = try bench.spi(\.spiDevice, mode: 0, safe: .none(because: "it is only read"))
        }
      }
      if let channel = sensor.channel {
        let converter = sensor.address.map { "the ads1115 at 0x\(String($0, radix: 16))" } ?? "the mcp3008"
        bench.claim(.part("input \(channel) of \(converter)"), key: "\(path).channel")
      }
    }
    (self.bus, self.spi) = (bus, spi)
    let radios = wiring.sensors.map { $0.chip == .ble ? $0.radio : nil }
    ear = isSimulated || radios.allSatisfy { $0 == nil } ? nil : SoilEar(radios, logger: bench.logger)
    if let ear { bench.tend(ear) }
    let hasGarden = isSimulated && wiring.hasDistinctProbes
    garden = hasGarden ? SimulatedGarden(wiring.sensors.map(\.monitored), clock: .monotonic) : nil
    guard let garden, bench.isSimulated else { return }
    bench.share(garden)
    bench.simulates(
      [
        garden.bus.map { SimulatedBus("plants-i2c", .i2c($0)) },
        garden.port.map { SimulatedBus("plants-spi", .spi($0)) },
      ].compactMap(\.self), routes: garden.routes)
  }

  /// Returns the I2C bus for the one loop that reads the probes, or `nil` if no probe is on I2C.
  func i2cPort() -> I2CBus? {
    if let bus { return bus.port() }
    if let bus = garden?.bus { return bus.port() }
    return nil
  }

  /// Returns the reader of the radio sensors' advertisements, for the one loop that reads the probes, or `nil` if there is no radio sensor.
  func air() -> LatestReader<SoilSightings>? { ear?.sightings.reader() ?? garden?.air?.reader() }

  /// Returns the SPI port for the loop that has the I2C bus, or `nil` if no probe is on SPI.
  func spiPort() -> SPIPort? {
    if let spi { return spi.port() }
    if let port = garden?.port { return port.port() }
    return nil
  }
}

extension Plants.Wiring {
  /// Returns the resource by which a probe's chip is reached.
  fileprivate func resource(of sensor: PlantSensorWiring) -> ResourceClaim.Resource {
    switch backend {
    case .hardware: sensor.address.map { .i2c(bus: i2cBus, address: $0) } ?? .spi(path: spiDevice)
    case .sim:
      .part(sensor.address.map { "the simulated chip at 0x\(String($0, radix: 16))" } ?? "the simulated mcp3008")
    }
  }

  /// The operations of the I2C adapter that the probes' drivers need.
  fileprivate var operations: [I2CTransfer.Operation] {
    let chips = Set(sensors.map(\.chip))
    return (chips.contains(.seesaw) ? [.plainWrite, .plainRead] : [])
      + (chips.contains(.ads1115) ? [.writeBlock, .readBlock] : [])
  }
}
