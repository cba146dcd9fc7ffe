import Buses
import BusesLinux

/// Something of the machine that only one part of the program can have, and the key that asks for it.
struct ResourceClaim: Equatable {
  enum Resource: Hashable {
    case i2c(bus: Int, address: UInt8)
    case serial(path: String)
    /// A chip select.
    case spi(path: String)
    /// Of simulated plants.
    case simulatedChip(address: UInt8)
    /// An input of a converter of plants.
    case input(converter: String, channel: Int)
    /// What clients call a probe.
    case sensorName(String)
    /// A line, named in one way: see `gpio(_:)` of this.
    case gpio(GPIOLineName)
    case udp(port: UInt16)
    /// A Bluetooth adapter; nil: the first.
    case radio(adapter: String?)
    /// A PWM unit's output, by its folder.
    case pwm(path: String)
    /// An output of the servos' chip.
    case servo(channel: Int)
    /// What logs and the API call a leg.
    case legName(String)
  }

  let resource: Resource
  let key: String
}

extension ResourceClaim.Resource: CustomStringConvertible {
  var description: String {
    switch self {
    case .i2c(let bus, let address): "address 0x\(String(address, radix: 16)) on I2C bus \(bus)"
    case .serial(let path): "the serial line \(path)"
    case .spi(let path): "the chip select \(path)"
    case .simulatedChip(let address): "the simulated chip at 0x\(String(address, radix: 16))"
    case .input(let converter, let channel): "input \(channel) of \(converter)"
    case .sensorName(let name): "the sensor name \(name)"
    case .gpio(let line): "GPIO line \(line)"
    case .udp(let port): "UDP port \(port)"
    case .radio(nil): "the first Bluetooth adapter"
    case .radio(let adapter?): "the Bluetooth adapter \(adapter)"
    case .pwm(let path): "the PWM output \(path)"
    case .servo(let channel): "servo channel \(channel)"
    case .legName(let name): "the name \(name)"
    }
  }
}

extension ResourceClaim {
  /// A claim of a line. One of a Raspberry Pi's header is the same by name and by offset on the header's chip.
  static func gpio(_ line: GPIOLineName, key: String) -> ResourceClaim {
    var line = line
    if case .offset(let offset, let chip) = line.place, LinuxGPIOChip.headerLabels.contains(chip), offset < 54 {
      line = .bcm(offset)
    }
    return ResourceClaim(resource: .gpio(line), key: key)
  }

  /// What a Raspberry Pi's header has on this line when this is claimed; nil: it is free for all that this knows.
  fileprivate func use(of line: GPIOLineName) -> String? {
    switch resource {
    case .i2c(let bus, _) where bus == 1 || bus == 0:
      [GPIOLineName.bcm(bus * 2), .bcm(bus * 2 + 1)].contains(line) ? "I2C bus \(bus)" : nil
    case .serial(let path) where ["/dev/serial0", "/dev/ttyAMA0", "/dev/ttyS0"].contains(path):
      [GPIOLineName.bcm(14), .bcm(15)].contains(line) ? "the serial line \(path)" : nil
    case .spi(let path):
      Self.pins(ofChipSelect: path).contains { GPIOLineName.bcm($0) == line } ? "the SPI bus of \(path)" : nil
    default: nil
    }
  }

  /// What an SPI bus takes of a Raspberry Pi's header: bus 0 with both its chip selects, bus 1 with the one asked for.
  private static func pins(ofChipSelect path: String) -> [Int] {
    switch path {
    case "/dev/spidev0.0", "/dev/spidev0.1": [7, 8, 9, 10, 11]
    case "/dev/spidev1.0": [18, 19, 20, 21]
    case "/dev/spidev1.1": [17, 19, 20, 21]
    case "/dev/spidev1.2": [16, 19, 20, 21]
    default: []
    }
  }
}

extension [ResourceClaim] {
  /// An error for every claim of what an earlier one has already, and of a line that a bus needs.
  func errors(file: String, places: ConfigPlaces) -> [ConfigError] {
    var owners: [ResourceClaim.Resource: String] = [:]
    var errors: [ConfigError] = []
    for claim in self {
      if let owner = owners[claim.resource] {
        errors.append(
          places.error(
            file, claim.key, "expected one owner of \(claim.resource), got two: \(places.words(owner)) has it"))
      } else {
        owners[claim.resource] = claim.key
      }
      guard case .gpio(let line) = claim.resource else { continue }
      for bus in self {
        guard let use = bus.use(of: line) else { continue }
        errors.append(
          places.error(
            file, claim.key,
            "expected a free GPIO line, got \(line), which \(use) needs: \(places.words(bus.key)) has it"))
        break
      }
    }
    return errors
  }
}

extension Configuration {
  /// What every system asks for, in the order of the systems. What is simulated has hardware of its own.
  var claims: [ResourceClaim] {
    let claims: [[ResourceClaim]?] = [
      motors?.claims(port: motorPort), legs?.claims, sprinkler?.claims, pump?.claims, plants?.claims,
    ]
    return claims.flatMap { $0 ?? [] } + declared.all.flatMap(\.plan.claims)
  }
}

extension Configuration.Motors {
  fileprivate func claims(port: UInt16) -> [ResourceClaim] {
    var claims: [ResourceClaim] = []
    switch backend {
    case .ybPcbCar, .raspbotV2:
      claims.append(ResourceClaim(resource: .i2c(bus: i2cBus, address: i2cAddress), key: "motors.i2c_address"))
    case .xgoRider: claims.append(ResourceClaim(resource: .serial(path: serialDevice), key: "motors.serial_device"))
    case .sim: break
    }
    if port > 0 { claims.append(ResourceClaim(resource: .udp(port: port), key: "network.motor_udp_port")) }
    return claims
  }
}

extension Configuration.Legs {
  fileprivate var claims: [ResourceClaim] {
    var claims: [ResourceClaim] = []
    if backend == .pca9685 {
      claims.append(ResourceClaim(resource: .i2c(bus: i2cBus, address: i2cAddress), key: "leg.i2c_address"))
      if let battery {
        claims.append(
          ResourceClaim(resource: .i2c(bus: i2cBus, address: battery.i2cAddress), key: "leg.battery.i2c_address"))
      }
      if let outputEnable { claims.append(.gpio(outputEnable, key: "leg.output_enable")) }
    }
    if let bluetooth {
      claims.append(ResourceClaim(resource: .radio(adapter: bluetooth.adapter), key: "leg.bluetooth"))
    }
    if let serial { claims.append(ResourceClaim(resource: .serial(path: serial.path), key: "leg.serial")) }
    for (index, leg) in legs.enumerated() {
      if port > 0, Int(port) + index <= 65535 {
        claims.append(ResourceClaim(resource: .udp(port: port + UInt16(index)), key: "network.leg_udp_port"))
      }
      claims.append(ResourceClaim(resource: .servo(channel: leg.channel), key: "legs[\(index)].channel"))
      claims.append(ResourceClaim(resource: .legName(leg.name), key: "legs[\(index)].name"))
    }
    return claims
  }
}

extension Configuration.Pump {
  fileprivate var claims: [ResourceClaim] {
    guard backend == .hardware else { return [] }
    switch role {
    case .operator:
      // A radio has many connections: only who advertises has it alone. What is no address is `errors`' business.
      guard case .serial(let path)? = try? PumpAddress(device ?? Self.usualDevice) else { return [] }
      return [ResourceClaim(resource: .serial(path: path), key: "pump.device")]
    case .device:
      var claims = [ResourceClaim(resource: .pwm(path: own.pwmPath), key: "pump.pwm.channel")]
      if let device { claims.append(ResourceClaim(resource: .serial(path: device), key: "pump.device")) }
      if let bluetooth = own.bluetooth {
        claims.append(ResourceClaim(resource: .radio(adapter: bluetooth.adapter), key: "pump.bluetooth"))
      }
      if let button = own.button { claims.append(.gpio(button, key: "pump.button")) }
      if own.hasConverter {
        claims.append(
          ResourceClaim(resource: .i2c(bus: own.i2cBus, address: own.i2cAddress), key: "pump.adc.i2c_address"))
      }
      return claims
    }
  }
}

extension Configuration.Plants {
  /// Several probes of one converter share its address, and SPI's chip select.
  fileprivate var claims: [ResourceClaim] {
    var claims: [ResourceClaim] = []
    var chips: [ResourceClaim.Resource: Chip] = [:]
    for (index, sensor) in sensors.enumerated() {
      let path = "plants.sensors[\(index)]"
      claims.append(ResourceClaim(resource: .sensorName(sensor.name.lowercased()), key: "\(path).name"))
      let resource = resource(of: sensor)
      if sensor.channel == nil || chips[resource] != sensor.chip {
        let key = sensor.address == nil ? "plants.spi_device" : "\(path).i2c_address"
        claims.append(ResourceClaim(resource: resource, key: key))
        chips[resource] = sensor.chip
      }
      if let channel = sensor.channel {
        let converter = sensor.address.map { "the ads1115 at 0x\(String($0, radix: 16))" } ?? "the mcp3008"
        claims.append(ResourceClaim(resource: .input(converter: converter, channel: channel), key: "\(path).channel"))
      }
    }
    return claims
  }

  /// What a probe's chip is reached by.
  private func resource(of sensor: Sensor) -> ResourceClaim.Resource {
    switch backend {
    case .hardware: sensor.address.map { .i2c(bus: i2cBus, address: $0) } ?? .spi(path: spiDevice)
    case .sim: sensor.address.map { .simulatedChip(address: $0) } ?? .spi(path: "of the simulated mcp3008")
    }
  }
}

extension Configuration.Sprinkler {
  /// Pins that cannot be, or that two zones have, are `errors`' business.
  fileprivate var claims: [ResourceClaim] {
    guard backend == .gpio else { return [] }
    let ofZones = Set(pins).sorted().map { (pin: $0, key: pinKey($0)) }
    let others = [
      master.map { (pin: $0.pin, key: "sprinkler.master.pin") }, flow.map { (pin: $0.pin, key: "sprinkler.flow.pin") },
    ].compactMap(\.self).filter { !pins.contains($0.pin) }
    return (ofZones + others).filter { chip != nil ? $0.pin >= 0 : (0...53).contains($0.pin) }
      .map { .gpio(name($0.pin), key: $0.key) }
  }

  /// The key that asks for a zone's pin.
  private func pinKey(_ pin: Int) -> String {
    if givesPins { return "sprinkler.pins" }
    return zip(zones, zonePinKeys).first { $0.0.gpioPin == pin }?.1 ?? "sprinkler"
  }
}
