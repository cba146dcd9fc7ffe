import Service
import Yams

extension Configuration.Service {
  init(_ given: GivenValues) {
    self.init(
      port: UInt16(clamping: given.integer("network.http_port")),
      // The table lists exactly the raw values.
      auth: Auth(rawValue: given.text("service.auth"))!,
      tls: TLS(given),
      allowedOrigins: given.texts("service.allowed_origins"),
      allowedHosts: given.texts("service.allowed_hosts"),
      frameAncestors: given.texts("service.frame_ancestors"),
      maxConnections: given.integer("service.max_connections"),
      threads: given.optionalInteger("performance.worker_threads"),
      jwtKey: given.optionalText("service.jwt_key"),
      bonjour: given.boolean("service.bonjour"),
      clients: Clients(given))
  }
}

extension Configuration.Service.TLS {
  /// Reads the TLS mode. A file that is not given becomes an empty path, which `serviceErrors` refuses.
  fileprivate init(_ given: GivenValues) {
    switch given.text("service.tls") {
    case "self-signed": self = .selfSigned
    case "files":
      self = .files(
        certificate: given.optionalText("service.tls_certificate") ?? "",
        key: given.optionalText("service.tls_key") ?? "")
    default: self = .off
    }
  }
}

extension Configuration {
  var isLoopback: Bool { Self.isLoopback(bindAddress) }

  /// Returns whether the text is a loopback address or `localhost`.
  public static func isLoopback(_ address: String) -> Bool {
    let digits = address.hasPrefix("::ffff:") ? address.dropFirst(7) : address[...]
    // A text such as `127.example` is a host name.
    let isInDigits = digits.allSatisfy { $0 == "." || ("0"..."9").contains($0) }
    return digits.hasPrefix("127.") && isInDigits || address == "::1" || address == "localhost"
  }

  /// Returns the errors of rules over more than one key of the section `service`.
  func serviceErrors(file: String, places: ConfigPlaces) -> [ConfigError] {
    guard let service else { return [] }
    var errors: [ConfigError] = []
    func report(_ key: String, _ message: String, alone: Bool = false) {
      errors.append(places.error(file, key, message, alone: alone))
    }
    if service.auth == .none, !isLoopback {
      let place = places.marks["network.bind_address"].map { "line \($0.line): " } ?? ""
      report(
        "service.auth",
        "expected tokens while \(place)network.bind_address is \(bindAddress): none needs 127.0.0.1 or ::1, got none")
    }
    if case .files(let certificate, let key) = service.tls {
      for (name, path) in [("service.tls_certificate", certificate), ("service.tls_key", key)] where path.isEmpty {
        report(name, "expected a file while service.tls is files, got nothing")
      }
    }
    for flaw in service.clients.flaws(hasTLS: service.tls != .off) { report(flaw.key, flaw.message) }
    if service.tls != .off, !ServiceConfiguration.hasTLS {
      report(
        "service.tls",
        "expected off, the only choice of this build; `swift build --traits TLS` makes one with HTTPS",
        alone: true)
    }
    if let bytes = service.jwtKey?.utf8.count, bytes < 32 {
      report("service.jwt_key", "expected at least 32 bytes, got \(bytes)", alone: true)
    }
    do throws(HostRulesError) {
      _ = try HostRules(allowedHosts: service.allowedHosts, allowedOrigins: service.allowedOrigins)
      _ = try FrameAncestors(service.frameAncestors)
    } catch {
      switch error {
      case .host(let entry): report("service.allowed_hosts", "expected names or addresses, got \(entry)", alone: true)
      case .origin(let entry):
        report("service.allowed_origins", "expected https://NAME or http://NAME:PORT, got \(entry)", alone: true)
      case .ancestor(let entry):
        report("service.frame_ancestors", "expected https://NAME or http://NAME:PORT, got \(entry)", alone: true)
      }
    }
    return errors
  }
}
