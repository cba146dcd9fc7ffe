import Buses
import Glibc

/// What a user can do next, printed after the start.
enum WhatToTry {
  static func text(
    program: String, motors: Configuration.Motors, simulated: Bool, endpoint: Endpoint,
    service: ServiceComposition?
  ) -> String {
    let text = "\(endpoint)"
    let host = text.prefix(text.utf8.count - "\(endpoint.port)".utf8.count - 1)
    let everywhere = host == "0.0.0.0" || host == "[::]"
    let target = everywhere ? "127.0.0.1" : String(host).trimmingBrackets
    let port = endpoint.port == 5005 ? "" : " --port \(endpoint.port)"
    let family = target.contains(":") ? "AF_INET6" : "AF_INET"
    var lines = [
      "tactus \(TactusCommand.version): \(motors.backend == .sim ? "simulated robot" : motors.summary)"
        + (simulated && motors.backend != .sim ? " (simulated)" : "") + ", motor commands on UDP \(endpoint)"
    ]
    if everywhere { lines.append("CAUTION: every network this machine is on can drive the motors") }
    lines += [
      "Drive it from another terminal:",
      "  \(program) drive \(target)\(port)",
      "  \(program) drive \(target)\(port) --left 30 --right 30 --for 2s",
      "Or send one command from Python; one second later the motors stop by themselves:",
      "  python3 -c 'import socket; socket.socket(socket.\(family), socket.SOCK_DGRAM)"
        + ".sendto(b\"{\\\"left\\\": 30, \\\"right\\\": 30}\", (\"\(target)\", \(endpoint.port)))'",
    ]
    if let service { lines += commands(program, service) }
    lines.append("Ctrl-C stops the motors and the program.")
    return lines.joined(separator: "\n")
  }

  private static func commands(_ program: String, _ service: ServiceComposition) -> [String] {
    let needsToken = service.configuration.auth == .tokens
    let token = needsToken ? " -H \"Authorization: Bearer $TACTUS_TOKEN\"" : ""
    let curl = "curl -s\(service.certificate.map { " --cacert \($0)" } ?? "")\(token)"
    let address = service.address
    var lines = [
      "Console: \(address)/"
        + (needsToken ? " (a token: \(program) token create --name me; or TACTUS_TOKEN in the environment)" : "")
    ]
    if let fingerprint = service.fingerprint { lines.append("  certificate's SHA-256: \(fingerprint)") }
    return lines + [
      "  \(curl) \(address)/api/status",
      "  \(curl) -X POST \(address)/api/robot/drive --json '{\"left\": 30, \"right\": 30}'",
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
