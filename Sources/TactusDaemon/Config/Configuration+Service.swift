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
      maxConnections: given.integer("service.max_connections"),
      threads: given.optionalInteger("performance.worker_threads"),
      jwtKey: given.optionalText("service.jwt_key"),
      bonjour: given.boolean("service.bonjour"))
  }
}

extension Configuration.Service.TLS {
  /// Files that are missing are empty here; `serviceErrors` refuses them.
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

  /// Returns whether the text is a loopback address, or the usual name of one.
  public static func isLoopback(_ address: String) -> Bool {
    let digits = address.hasPrefix("::ffff:") ? address.dropFirst(7) : address[...]
    // 127.example is a name.
    let isInDigits = digits.allSatisfy { $0 == "." || ("0"..."9").contains($0) }
    return digits.hasPrefix("127.") && isInDigits || address == "::1" || address == "localhost"
  }

  /// Rules of the section `service` over more than one key.
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
    } catch {
      switch error {
      case .host(let entry): report("service.allowed_hosts", "expected names or addresses, got \(entry)", alone: true)
      case .origin(let entry):
        report("service.allowed_origins", "expected https://NAME or http://NAME:PORT, got \(entry)", alone: true)
      }
    }
    return errors
  }
}
