extension Configuration {
  /// What the file would run, for people: a few lines without indentation.
  var summary: [String] {
    var lines: [String] = []
    if let motors {
      lines.append("robot: \(motors.summary), commands on UDP \(bindAddress):\(motorPort), \(robotRateHertz) Hz")
      lines.append(
        "guard: "
          + (!guardEnabled
            ? "off" : motors.backend == .sim ? "not needed, no hardware" : "after \(guardTimeoutSeconds) s"))
      lines.append(serviceSummary)
    } else {
      lines.append("nothing to run: no section of a system is present (motors: …)")
    }
    if !isLoopback {
      lines.append("listens on \(bindAddress): whoever reaches this port can drive the motors")
    }
    if !unused.isEmpty {
      lines.append("accepted, not used by this version: " + unused.joined(separator: ", "))
    }
    return lines
  }
}

extension Configuration {
  private var serviceSummary: String {
    guard let service else { return "service: off" }
    let scheme = service.tls == .off ? "http" : "https"
    let host = bindAddress.contains(":") ? "[\(bindAddress)]" : bindAddress
    let access = service.auth == .none ? "no token needed" : "with tokens"
    return "service: \(scheme)://\(host):\(service.port), \(access)"
  }
}

extension Configuration.Motors {
  var summary: String {
    switch backend {
    case .ybPcbCar, .raspbotV2: "\(backend.rawValue) at 0x\(String(i2cAddress, radix: 16)) on /dev/i2c-\(i2cBus)"
    case .xgoRider: "xgo-rider on \(serialDevice)"
    case .sim: "simulated board"
    }
  }
}
