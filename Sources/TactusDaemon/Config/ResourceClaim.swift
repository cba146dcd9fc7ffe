import Buses
import BusesLinux
import Tactus

/// A resource of the host that only one part of the program can use, with the key that requests it.
public struct ResourceClaim: Equatable, Sendable {
  /// A resource that can have only one owner. A second claim of an equal resource is an error of the file.
  public enum Resource: Hashable, Sendable {
    /// A 7-bit address on the adapter `/dev/i2c-BUS`.
    case i2c(bus: Int, address: UInt8)
    /// A serial line, by its device: `/dev/serial0`. Two paths of one device count as two lines.
    case serial(path: String)
    /// A chip select of an SPI bus, by its device.
    case spi(path: String)
    /// A resource named by a text, such as an output of a chip or a name that clients use, of which there is only one.
    case part(String)
    /// A GPIO line, under the name that `gpio(_:key:)` gives it.
    case gpio(GPIOLineName)
    /// A TCP port on which the program listens, more than 0.
    case tcp(port: UInt16)
    /// A UDP port on which the program listens, more than 0.
    case udp(port: UInt16)
    /// A Bluetooth adapter, or the first one if `adapter` is `nil`.
    case radio(adapter: String?)
    /// An output of a PWM unit, by its folder.
    case pwm(path: String)
  }

  let resource: Resource
  let key: String

  /// Makes a claim of a resource.
  ///
  /// - Parameter key: the path of the key that errors name: `motors.i2c_address`.
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
  /// Returns the claim of a GPIO line. A line of a Raspberry Pi's header gives the same claim by name and by offset on the header's chip.
  public static func gpio(_ line: GPIOLineName, key: String) -> ResourceClaim {
    var line = line
    if case .offset(let offset, let chip) = line.place, LinuxGPIOChip.headerLabels.contains(chip), offset < 54 {
      line = .bcm(offset)
    }
    return ResourceClaim(resource: .gpio(line), key: key)
  }

  /// Returns a description of the claim's use of a line of a Raspberry Pi's header, or `nil` if the claim does not use the line.
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

  /// Returns the lines that an SPI bus occupies on a Raspberry Pi's header: bus 0 with both its chip selects, bus 1 with the claimed one.
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
  /// Returns an error for every claim of a resource that an earlier claim has already, and of a GPIO line that a bus needs.
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
            file, blamed, "expected one owner of \(claim.resource), got two: \(places.location(of: other)) has it"))
      } else {
        owners[claim.resource] = claim.key
      }
      guard case .gpio(let line) = claim.resource else { continue }
      for bus in self {
        guard let use = bus.use(of: line) else { continue }
        errors.append(
          places.error(
            file, claim.key,
            "expected a free GPIO line, got \(line), which \(use) needs: \(places.location(of: bus.key)) has it"))
        break
      }
    }
    return errors
  }
}

extension Configuration {
  /// The claims of all systems in their order, preceded by the service's port and followed by the broker's. Simulated
  /// systems claim only simulated hardware.
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
