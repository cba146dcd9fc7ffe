/// Something of the machine that only one part of the program can have, and the key that asks for it.
struct ResourceClaim: Equatable {
  enum Resource: Hashable {
    case i2c(bus: Int, address: UInt8)
    case serial(path: String)
    case udp(port: UInt16)
    /// A Bluetooth adapter; nil: the first.
    case radio(adapter: String?)
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
    case .udp(let port): "UDP port \(port)"
    case .radio(nil): "the first Bluetooth adapter"
    case .radio(let adapter?): "the Bluetooth adapter \(adapter)"
    case .servo(let channel): "servo channel \(channel)"
    case .legName(let name): "the name \(name)"
    }
  }
}

extension [ResourceClaim] {
  /// An error for every claim of what an earlier one has already.
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
    }
    return errors
  }
}

extension Configuration {
  /// What every system asks for, in the order of the systems. What is simulated has hardware of its own.
  var claims: [ResourceClaim] { (motors?.claims(port: motorPort) ?? []) + (legs?.claims ?? []) }
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
