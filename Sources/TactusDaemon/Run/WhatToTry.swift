import Buses
import Glibc

/// Suggestions for a user's next steps, printed after the start. Each line works when it is pasted into another
/// terminal, in the order in which they are printed.
enum WhatToTry {
  /// Returns the text of the suggestions. No value of the configuration or of the environment makes another line of it or moves the cursor.
  ///
  /// - Parameters:
  ///   - program: the program as a shell finds it; see `MakingToken.program`.
  ///   - login: the login for the broker; see `BrokerLogin`.
  static func text(
    program: String, configuration: Configuration, simulated: Bool, endpoints: [String: [Endpoint]],
    service: ServiceComposition?, login: String? = nil
  ) -> String {
    let invitations = configuration.systems.all.map {
      $0.invitation(program: program, simulated: simulated, at: endpoints[$0.name] ?? [])
    }
    let titles = invitations.map(\.title).joined(separator: "; ")
    var text = ["\(DaemonProgram.current.name) \(TactusCommand.version): \(titles)"]
    if endpoints.values.joined().contains(where: { ReachableEndpoint($0).isEverywhere }) {
      text.append("CAUTION: every network this machine is on can drive \(configuration.whatDrives)")
    }
    if let service { text += page(service) }
    text += invitations.flatMap(\.lines)
    if let service { text += commands(program, service, invitations.flatMap(\.calls)) }
    if let mqtt = configuration.mqtt { text += listening(mqtt, login) }
    text.append("Ctrl-C stops \(configuration.drives ? "\(configuration.whatDrives) and " : "")the program.")
    return text.map(JSONLine.inOneLine).joined(separator: "\n")
  }

  /// Returns the commands that listen on the broker. They contain no password, since other users can see the arguments
  /// of running programs. A broker that the daemon starts allows every local user to read.
  private static func listening(_ mqtt: Configuration.MQTT, _ login: String?) -> [String] {
    var options = mqtt.port == 1883 ? "" : " -p \(mqtt.port)"
    if case .address(let host) = mqtt.broker, host != "127.0.0.1" { options += " -h \(host)" }
    if let security = mqtt.security {
      options += " --cafile \(security.authorities ?? "/etc/ssl/certs/ca-certificates.crt")"
    }
    var title = "MQTT, every state and event:"
    if mqtt.broker != .spawn, let user = mqtt.user {
      options += " -u \(MakingToken.quoted(user))"
      title =
        "MQTT, every state and event, once ~/.config/mosquitto_sub has the line -P PASSWORD (and mosquitto_pub the same):"
    }
    var lines = [title, "  mosquitto_sub\(options) -v -t '\(mqtt.topics.base)/#'"]
    let prefix = login.map { "XDG_CONFIG_HOME=\(MakingToken.quoted($0)) " } ?? ""
    if mqtt.takesCommands, mqtt.broker != .spawn || login != nil {
      lines.append("  \(prefix)mosquitto_pub\(options) -t \(mqtt.topics.base)/command -m e-stop")
    }
    return lines
  }

  /// Returns the lines that tell where the page is, from this machine and from others, and how a browser or a phone
  /// gets access.
  private static func page(_ service: ServiceComposition) -> [String] {
    let needsToken = service.configuration.auth == .tokens
    let elsewhere = service.addressesElsewhere.filter { $0 != service.address }.map { $0 + "/" }
    var lines = ["Console: \(service.address)/" + (needsToken ? " (it asks for a token, such as this makes:)" : "")]
    if needsToken { lines.append("  \(service.tokenCommand)") }
    if !elsewhere.isEmpty { lines.append("From another machine: \(elsewhere.joined(separator: " or "))") }
    if needsToken, let ticket = service.ticketCommand {
      lines += ["For a phone, a QR code that lets it in once, with a token of its own:", "  \(ticket)"]
    }
    if let fingerprint = service.fingerprint { lines.append("  certificate's SHA-256: \(fingerprint)") }
    return lines
  }

  private static func commands(
    _ program: String, _ service: ServiceComposition, _ calls: [Invitation.Call]
  ) -> [String] {
    let needsToken = service.configuration.auth == .tokens
    let token = needsToken ? " -H \"Authorization: Bearer $TACTUS_TOKEN\"" : ""
    let curl = "curl -s\(service.certificate.map { " --cacert \($0)" } ?? "")\(token)"
    let address = service.address
    var lines: [String] = []
    if needsToken {
      lines += [
        "A token for your terminal, which the lines below use; it is good for 12 h:",
        "  \(service.terminalTokenCommand)",
      ]
    }
    lines.append("  \(curl) \(address)/api/status")
    lines += calls.map { call in
      "  \(curl) \(call.options) \(address)\(call.path)" + (call.body.map { " --json '\($0)'" } ?? "")
        + (call.pauseSeconds.map { "; sleep \($0)" } ?? "")
    }
    return lines + [
      "  \(curl) -X POST \(address)/api/e-stop",
      "  \(curl) -X POST \(address)/api/reset",
      "  \(curl) \(address)/metrics",
      "  \(program) top \(address)\(service.fingerprint.map { " --fingerprint \($0)" } ?? "")",
    ]
  }
}

/// The address at which another program on the same host reaches an endpoint of this daemon.
public struct ReachableEndpoint: Sendable {
  let isEverywhere: Bool
  /// The numeric address without brackets; `127.0.0.1` for an endpoint on every IPv4 address.
  public let host: String
  /// The address family in the `socket` module of Python.
  public var family: String { host.contains(":") ? "AF_INET6" : "AF_INET" }

  /// Creates the address.
  ///
  /// - Parameter endpoint: the endpoint on which the daemon listens, with the port in effect.
  public init(_ endpoint: Endpoint) {
    let text = "\(endpoint)"
    let host = text.prefix(text.utf8.count - "\(endpoint.port)".utf8.count - 1)
    isEverywhere = endpoint.isIPv4 ? UInt32(truncatingIfNeeded: endpoint.low) == 0 : endpoint.high | endpoint.low == 0
    self.host = isEverywhere ? (endpoint.isIPv4 ? "127.0.0.1" : "::1") : String(host).trimmingBrackets
  }
}

extension String {
  fileprivate var trimmingBrackets: String {
    hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
  }
}
