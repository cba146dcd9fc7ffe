import Buses
import BusesLinux
import Tactus

/// Something of the machine that only one part of the program can have, and the key that asks for it.
public struct ResourceClaim: Equatable, Sendable {
  /// What can have one owner only: a second claim of an equal resource is an error of the file.
  public enum Resource: Hashable, Sendable {
    /// A 7-bit address on the adapter `/dev/i2c-BUS`.
    case i2c(bus: Int, address: UInt8)
    /// A serial line, by its device: `/dev/serial0`. Two paths of one device count as two lines.
    case serial(path: String)
    /// A chip select.
    case spi(path: String)
    /// A part of a chip, a name that clients use: whatever one system can have only once, by what it is called.
    case part(String)
    /// A line, named in one way: see `gpio(_:)` of this.
    case gpio(GPIOLineName)
    /// A TCP port on which the program listens, more than 0.
    case tcp(port: UInt16)
    /// A UDP port on which the program listens, more than 0.
    case udp(port: UInt16)
    /// A Bluetooth adapter; `nil` for the first.
    case radio(adapter: String?)
    /// A PWM unit's output, by its folder.
    case pwm(path: String)
  }

  let resource: Resource
  let key: String

  /// - Parameter key: the path that errors name: `motors.i2c_address`.
  public init(resource: Resource, key: String) {
    self.resource = resource
    self.key = key
  }
}

extension ResourceClaim.Resource: CustomStringConvertible {
  public var description: String {
    switch self {
    case .i2c(let bus, let address): "address 0x\(String(address, radix: 16)) on I2C bus \(bus)"
    case .serial(let path): "the serial line \(path)"
    case .spi(let path): "the chip select \(path)"
    case .part(let name): name
    case .gpio(let line): "GPIO line \(line)"
    case .tcp(let port): "TCP port \(port)"
    case .udp(let port): "UDP port \(port)"
    case .radio(nil): "the first Bluetooth adapter"
    case .radio(let adapter?): "the Bluetooth adapter \(adapter)"
    case .pwm(let path): "the PWM output \(path)"
    }
  }
}

extension ResourceClaim {
  /// A claim of a line. One of a Raspberry Pi's header is the same by name and by offset on the header's chip.
  public static func gpio(_ line: GPIOLineName, key: String) -> ResourceClaim {
    var line = line
    if case .offset(let offset, let chip) = line.place, LinuxGPIOChip.headerLabels.contains(chip), offset < 54 {
      line = .bcm(offset)
    }
    return ResourceClaim(resource: .gpio(line), key: key)
  }

  /// The use of a line of a Raspberry Pi's header by this claim, or `nil` if the claim does not use it.
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
    for claim in self where Mechanism.claims.acts {
      if let owner = owners[claim.resource] {
        // A key that the file does not give is not to blame.
        let (blamed, other) =
          places.gives(claim.key) || !places.gives(owner) ? (claim.key, owner) : (owner, claim.key)
        errors.append(
          places.error(
            file, blamed, "expected one owner of \(claim.resource), got two: \(places.words(other)) has it"))
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
  /// What every system asks for, in the order of the systems, between the service's port and the broker's. What is simulated has hardware of
  /// its own.
  var claims: [ResourceClaim] {
    var claims = systems.all.flatMap(\.claims)
    if let service, service.port > 0 {
      claims.insert(ResourceClaim(resource: .tcp(port: service.port), key: "network.http_port"), at: 0)
    }
    if let mqtt, mqtt.broker == .spawn {
      claims.append(ResourceClaim(resource: .tcp(port: mqtt.port), key: "mqtt.port"))
    }
    return claims
  }
}
