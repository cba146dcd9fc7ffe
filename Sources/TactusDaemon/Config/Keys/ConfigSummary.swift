extension Configuration {
  /// The systems and services that the file runs, in a few lines for people, without indentation.
  var summary: [String] {
    var lines = systems.all.flatMap { $0.summary(in: self) }
    if let mqtt { lines.append("MQTT: \(mqtt.summary)") }
    if let notify { lines.append("notifies: \(notify.summary)") }
    if hasSystem {
      let hasHardware = systems.all.contains { $0.driven != nil && !$0.isSimulated }
      lines.append(
        "guard: "
          + (!guardEnabled ? "off" : !hasHardware ? "not needed, no hardware" : "after \(guardTimeoutSeconds) s"))
      if let watchdog {
        lines.append(
          "hardware watchdog: "
            + (guardEnabled && hasHardware
              ? "\(watchdog.path), after \(watchdog.timeoutSeconds) s" : "not used, no guard feeds it"))
      }
      lines.append(serviceSummary)
    } else {
      lines.append(
        "nothing to run: no section of a system is present (\(Self.systemSections.map { "\($0): …" }.joined(separator: ", ")))"
      )
    }
    if !isLoopback, systems.all.contains(where: \.isOpenToAll) {
      lines.append("listens on \(bindAddress): every program that reaches these ports can drive \(whatDrives)")
    }
    if !unused.isEmpty {
      lines.append("accepted, not used by this version: " + unused.joined(separator: ", "))
    }
    return lines
  }
}

extension Configuration {
  /// Whether the file has at least one system to run.
  var hasSystem: Bool { !systems.all.isEmpty }

  /// The first section of each system. A file needs at least one of these sections to run a system.
  static var systemSections: [String] { DaemonProgram.current.kinds.compactMap { $0.sections.first?.name } }

  /// Whether any system of the file drives an actuator.
  var drives: Bool { systems.all.contains { $0.driven != nil } }

  /// The actuators of the file's systems in words: `the motors, the legs, the valves and the pump`.
  var whatDrives: String {
    let names = systems.all.compactMap(\.driven)
    guard let last = names.last, names.count > 1 else { return names.first ?? "nothing" }
    return names.dropLast().joined(separator: ", ") + " and " + last
  }

  private var serviceSummary: String {
    guard let service else { return "service: off" }
    let scheme = service.tls == .off ? "http" : "https"
    let host = bindAddress.contains(":") ? "[\(bindAddress)]" : bindAddress
    let access =
      (service.auth == .none ? "no token needed" : "with tokens")
      + (service.clients.authorities == nil ? "" : " or clients' certificates")
    return "service: \(scheme)://\(host):\(service.port), \(access)"
  }
}
