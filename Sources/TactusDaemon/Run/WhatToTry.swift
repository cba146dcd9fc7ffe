import Buses
import Glibc

/// What a user can do next, printed after the start.
enum WhatToTry {
  static func text(
    program: String, configuration: Configuration, simulated: Bool, endpoints: [String: [Endpoint]],
    service: ServiceComposition?
  ) -> String {
    var titles: [String] = []
    var lines: [String] = []
    if let motors = configuration.motors, let endpoint = endpoints["robot"]?.first {
      titles.append(
        (motors.backend == .sim ? "simulated robot" : motors.summary)
          + (simulated && motors.backend != .sim ? " (simulated)" : "") + ", motor commands on UDP \(endpoint)")
      lines += driving(program, endpoint)
    }
    if let legs = configuration.legs, let endpoints = endpoints["leg"], let first = endpoints.first {
      titles.append(
        (legs.backend == .sim ? "simulated servos" : legs.summary)
          + (simulated && legs.backend != .sim ? " (simulated)" : "") + ", leg frames on UDP "
          + endpoints.map { "\($0)" }.joined(separator: ", "))
      lines += moving(first, deadmanMilliseconds: legs.deadmanMilliseconds)
    }
    if let sprinkler = configuration.sprinkler {
      titles.append(
        "sprinkler with \(sprinkler.summary)" + (simulated && sprinkler.backend != .sim ? " (simulated)" : ""))
    }
    if let pump = configuration.pump {
      titles.append(pump.summary + (simulated && pump.backend != .sim ? " (simulated)" : ""))
    }
    if let plants = configuration.plants {
      titles.append("plants with \(plants.summary)" + (simulated && plants.backend != .sim ? " (simulated)" : ""))
    }
    for system in configuration.declared.all {
      titles.append(system.name + (simulated ? " (simulated)" : " \(system.summary)"))
    }
    if let video = configuration.video {
      titles.append("video" + (simulated && video.settings.source != .test ? " (a test picture)" : ""))
      lines += watching(video)
    }
    var text = ["\(DaemonProgram.current.name) \(TactusCommand.version): " + titles.joined(separator: "; ")]
    if endpoints.values.joined().contains(where: { Target($0).isEverywhere }) {
      text.append("CAUTION: every network this machine is on can drive \(configuration.whatDrives)")
    }
    text += lines
    if let service { text += commands(program, service, configuration) }
    if let mqtt = configuration.mqtt { text += listening(mqtt) }
    text.append("Ctrl-C stops \(configuration.drives ? "\(configuration.whatDrives) and " : "")the program.")
    return text.joined(separator: "\n")
  }

  /// An endpoint of this daemon as another program on this machine reaches it.
  private struct Target {
    let isEverywhere: Bool
    let host: String
    /// Of Python's socket.
    var family: String { host.contains(":") ? "AF_INET6" : "AF_INET" }

    init(_ endpoint: Endpoint) {
      let text = "\(endpoint)"
      let host = text.prefix(text.utf8.count - "\(endpoint.port)".utf8.count - 1)
      isEverywhere = host == "0.0.0.0" || host == "[::]"
      self.host = isEverywhere ? "127.0.0.1" : String(host).trimmingBrackets
    }
  }

  private static func driving(_ program: String, _ endpoint: Endpoint) -> [String] {
    let target = Target(endpoint)
    let port = endpoint.port == 5005 ? "" : " --port \(endpoint.port)"
    return [
      "Drive it from another terminal:",
      "  \(program) drive \(target.host)\(port)",
      "  \(program) drive \(target.host)\(port) --left 30 --right 30 --for 2s",
      "Or send one command from Python; one second later the motors stop by themselves:",
      "  python3 -c 'import socket; socket.socket(socket.\(target.family), socket.SOCK_DGRAM)"
        + ".sendto(b\"{\\\"left\\\": 30, \\\"right\\\": 30}\", (\"\(target.host)\", \(endpoint.port)))'",
    ]
  }

  private static func moving(_ endpoint: Endpoint, deadmanMilliseconds: Int) -> [String] {
    let target = Target(endpoint)
    return [
      "Arm the leg and set 1500 µs from Python; \(deadmanMilliseconds) ms later its pulse ends by itself:",
      "  python3 -c 'import socket; s=socket.socket(socket.\(target.family), socket.SOCK_DGRAM); "
        + "[s.sendto(bytes.fromhex(f), (\"\(target.host)\", \(endpoint.port))) for f in "
        + "(\"01020000\", \"01010000\", \"01030200dc05\")]'",
    ]
  }

  private static func watching(_ video: Configuration.Video) -> [String] {
    let host = ["0.0.0.0", "::"].contains(video.settings.bindAddress) ? "127.0.0.1" : video.settings.bindAddress
    let user = video.settings.user.isEmpty ? "" : "\(video.settings.user):PASSWORD@"
    return [
      "Look at it (the console shows it, too):",
      "  ffplay -fflags nobuffer rtsp://\(user)\(host.contains(":") ? "[\(host)]" : host):\(video.settings.port)/stream",
    ]
  }

  private static func listening(_ mqtt: Configuration.MQTT) -> [String] {
    var options = mqtt.port == 1883 ? "" : " -p \(mqtt.port)"
    if case .address(let host) = mqtt.broker, host != "127.0.0.1" { options += " -h \(host)" }
    if let security = mqtt.security {
      options += " --cafile \(security.authorities ?? "/etc/ssl/certs/ca-certificates.crt")"
    }
    if let user = mqtt.user { options += " -u \(user) -P …" }
    var lines = ["MQTT, every state and event:", "  mosquitto_sub\(options) -v -t '\(mqtt.topics.base)/#'"]
    if mqtt.takesCommands { lines.append("  mosquitto_pub\(options) -t \(mqtt.topics.base)/command -m e-stop") }
    return lines
  }

  private static func commands(
    _ program: String, _ service: ServiceComposition, _ configuration: Configuration
  ) -> [String] {
    let needsToken = service.configuration.auth == .tokens
    let token = needsToken ? " -H \"Authorization: Bearer $TACTUS_TOKEN\"" : ""
    let curl = "curl -s\(service.certificate.map { " --cacert \($0)" } ?? "")\(token)"
    let address = service.address
    var lines = [
      "Console: \(address)/"
        + (needsToken ? " (it asks for a token; or TACTUS_TOKEN in the environment)" : "")
    ]
    if needsToken { lines.append("  \(service.tokenCommand)") }
    if let fingerprint = service.fingerprint { lines.append("  certificate's SHA-256: \(fingerprint)") }
    lines.append("  \(curl) \(address)/api/status")
    if configuration.motors != nil {
      lines.append("  \(curl) -X POST \(address)/api/robot/drive --json '{\"left\": 30, \"right\": 30}'")
    }
    if configuration.legs != nil { lines.append("  \(curl) -X POST \(address)/api/leg/0/arm") }
    if configuration.sprinkler != nil {
      lines.append("  \(curl) -X POST \(address)/api/zone/1/on --json '{\"minutes\": 1}'")
    }
    if configuration.pump != nil {
      lines.append("  \(curl) -X POST \(address)/api/pump/on --json '{\"speedPercent\": 70}'")
    }
    if let sensor = configuration.plants?.sensors.first {
      lines.append(
        "  \(curl) -X POST \(address)/api/plants --json '{\"name\": \"Basil\", \"sensors\": [\"\(sensor.name)\"]}'")
    }
    for system in configuration.declared.all {
      for example in system.examples {
        lines.append(
          "  \(curl) -X POST \(address)/api/\(system.name)/\(example.path)"
            + (example.body.map { " --json '\($0)'" } ?? ""))
      }
    }
    if configuration.video != nil { lines.append("  \(curl) -o now.jpg \(address)/api/video/snapshot.jpg") }
    return lines + [
      "  \(curl) -X POST \(address)/api/e-stop",
      "  \(curl) -X POST \(address)/api/reset",
      "  \(curl) \(address)/metrics",
      "  \(program) top \(address)\(service.fingerprint.map { " --fingerprint \($0)" } ?? "")",
    ]
  }
}

extension String {
  fileprivate var trimmingBrackets: String {
    hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
  }
}
