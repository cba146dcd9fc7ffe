import Plants

extension Configuration {
  /// What the file would run, for people: a few lines without indentation.
  var summary: [String] {
    var lines: [String] = []
    if let motors {
      lines.append("robot: \(motors.summary), commands on UDP \(bindAddress):\(motorPort), \(robotRateHertz) Hz")
    }
    if let legs {
      lines.append(
        "\(legs.legs.count == 1 ? "leg" : "\(legs.legs.count) legs"): \(legs.summary), frames on UDP \(bindAddress):"
          + "\(legs.ports), \(legs.rateHertz) Hz")
      if let links = legs.linkSummary { lines.append("leg 0 besides: \(links)") }
    }
    if let pump {
      lines.append("\(pump.summary), off after \(pump.runLimitMinutes) min until it has rested \(pump.restMinutes) min")
    }
    if let plants {
      lines.append("plants: \(plants.summary)")
      if let app = plants.app {
        lines.append(
          mqtt == nil
            ? "the Plant-Tracker app reaches nobody: there is no section mqtt"
            : "the Plant-Tracker app is answered by \(app.hostName) on \(PlantTopics.toHost) and \(PlantTopics.fromHost)"
        )
      }
      if !plants.links.isEmpty {
        let numbers = plants.links.map { "\($0.plant) (zone \($0.settings.zone))" }.joined(separator: ", ")
        lines.append("plants that ask for water while they are dry: \(numbers)")
      }
    }
    if let sprinkler { lines.append("sprinkler: \(sprinkler.summary)") }
    for system in declared.all {
      lines.append("\(system.name): \(system.summary)")
      for output in system.plan.harmless { lines.append("\(system.name): no safe state for \(output)") }
    }
    if let video { lines.append(video.summary) }
    if let mqtt { lines.append("MQTT: \(mqtt.summary)") }
    if hasSystem {
      let hasHardware =
        motors.map { $0.backend != .sim } ?? false || legs?.backend == .pca9685 || sprinkler?.backend == .gpio
        || pump?.backend == .hardware || declared.all.contains(where: \.plan.drives)
      lines.append(
        "guard: "
          + (!guardEnabled ? "off" : !hasHardware ? "not needed, no hardware" : "after \(guardTimeoutSeconds) s"))
      lines.append(serviceSummary)
    } else {
      lines.append(
        "nothing to run: no section of a system is present (\(Self.systemSections.map { "\($0): …" }.joined(separator: ", ")))"
      )
    }
    // Valves are behind the service's tokens.
    if !isLoopback, motors != nil || legs != nil {
      lines.append("listens on \(bindAddress): whoever reaches these ports can drive \(whatDrives)")
    }
    if !unused.isEmpty {
      lines.append("accepted, not used by this version: " + unused.joined(separator: ", "))
    }
    return lines
  }
}

extension Configuration {
  /// Whether there is anything to run.
  var hasSystem: Bool { drives || plants != nil || video != nil || !declared.all.isEmpty }

  /// The sections of which a file needs one to run anything.
  static var systemSections: [String] {
    let program = DaemonProgram.current
    let own = program.hasOwnSystems ? ["motors", "leg", "sprinkler", "pump", "plants", "camera"] : []
    return own + program.systems.map { $0.name }
  }

  /// Whether any of it moves, opens or pumps something: plants and cameras only look.
  var drives: Bool {
    motors != nil || legs != nil || sprinkler != nil || pump != nil || declared.all.contains(where: \.plan.drives)
  }

  /// `the motors, the legs, the valves and the pump`
  var whatDrives: String {
    let names =
      [
        motors.map { _ in "the motors" }, legs.map { _ in "the legs" }, sprinkler.map { _ in "the valves" },
        pump.map { _ in "the pump" },
      ].compactMap(\.self) + declared.all.filter(\.plan.drives).map { "the \($0.name)" }
    guard let last = names.last, names.count > 1 else { return names.first ?? "nothing" }
    return names.dropLast().joined(separator: ", ") + " and " + last
  }

  private var serviceSummary: String {
    guard let service else { return "service: off" }
    let scheme = service.tls == .off ? "http" : "https"
    let host = bindAddress.contains(":") ? "[\(bindAddress)]" : bindAddress
    let access = service.auth == .none ? "no token needed" : "with tokens"
    return "service: \(scheme)://\(host):\(service.port), \(access)"
  }
}

extension Configuration.Sprinkler {
  var summary: String {
    let zones = "\(zones.count) zone\(zones.count == 1 ? "" : "s")"
    return switch backend {
    case .gpio: "\(zones) on \(chip ?? "the GPIO lines \(name(pins[0]))…")\(isActiveLow ? ", active low" : "")"
    case .sim: "\(zones), simulated"
    }
  }
}

extension Configuration.Legs {
  var summary: String {
    switch backend {
    case .pca9685:
      "pca9685 at 0x\(String(i2cAddress, radix: 16)) on /dev/i2c-\(i2cBus)"
        + (outputEnable.map { ", output enable on \($0)" } ?? "")
    case .sim: "simulated chip"
    }
  }

  /// What leg 0 is reached by besides; nil: nothing.
  var linkSummary: String? {
    var links: [String] = []
    if let bluetooth {
      links.append("Bluetooth (\(bluetooth.adapter ?? "the first adapter")), whoever is near may connect")
    }
    if let serial { links.append("\(serial.path) at \(serial.baudRate) bit/s") }
    return links.isEmpty ? nil : links.joined(separator: "; ")
  }

  /// `5010…5015`
  var ports: String { port == 0 || legs.count == 1 ? "\(port)" : "\(port)…\(Int(port) + legs.count - 1)" }
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
