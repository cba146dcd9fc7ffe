import Service

/// The keys of clients' certificates.
extension ConfigTable {
  static let clientLists = ["service.client_scopes": 64]
  static let clientMeanings = [
    "service.client_scopes":
      "What clients with a certificate of service.client_ca may do, by their names; of several rules that fit the first counts, and without one "
      + "the client is refused."
  ]

  static let clients: [ConfigKey] = [
    ConfigKey(
      "service.client_ca", .file, nil,
      "PEM file of the authorities whose certificates let clients in over HTTPS, beside tokens. A reload takes its present content. "
        + "Unless given, no client is asked for a certificate."),
    ConfigKey(
      "service.client_scopes[].name", .text, nil,
      "The name in the client's certificate: its common name, or else its first DNS name or mail address. * stands for any characters: phone-*.",
      mayChange: true),
    ConfigKey(
      "service.client_scopes[].scope", .choice(["none"] + Scope.allCases.map(\.rawValue)), .text("none"),
      "What these clients may do: none, read, control or admin.", mayChange: true),
  ]
}

extension Configuration.Service {
  /// Clients' certificates, as the file states them.
  struct Clients: Equatable, Sendable {
    /// The path of the authorities' PEM file, or `nil` if clients are not asked for a certificate.
    var authorities: String?
    var scopes: [ClientScope] = []
    /// The indices in the list of the rules that have a scope but no name, which are errors.
    var nameless: [Int] = []

    init(_ given: GivenValues) {
      authorities = given.optionalText("service.client_ca")
      for index in 0..<(given.counts["service.client_scopes"] ?? 0) {
        let path = "service.client_scopes[\(index)]"
        let scope = Scope(rawValue: given.text(path + ".scope"))
        if let name = given.optionalText(path + ".name"), !name.isEmpty {
          scopes.append(ClientScope(pattern: name, scope: scope))
        } else if scope != nil {
          nameless.append(index)
        }
      }
    }

    /// Returns the errors of rules over more than one key, each with its key.
    func flaws(hasTLS: Bool) -> [(key: String, message: String)] {
      var flaws = nameless.map { index in
        ("service.client_scopes[\(index)].name", "expected the name of a client, or phone-* for several, got none")
      }
      if authorities == nil, !scopes.isEmpty {
        flaws.append(("service.client_scopes", "expected service.client_ca with it, got none"))
      }
      if authorities?.isEmpty == true {
        flaws.append(("service.client_ca", "expected a file, got an empty text"))
      } else if authorities != nil {
        if !hasTLS { flaws.append(("service.client_ca", "expected service.tls self-signed or files with it, got off")) }
        if scopes.isEmpty {
          flaws.append(("service.client_scopes", "expected a rule at least while service.client_ca is given, got none"))
        }
      }
      return flaws
    }

    /// Reads the authorities' file. Returns `nil` if clients are not asked for a certificate.
    func read() throws(ConfigError) -> ClientCertificates.Rules? {
      guard let path = authorities else { return nil }
      func wrong(_ message: String) -> ConfigError {
        ConfigError(file: path, key: "service.client_ca", message: message)
      }
      let bytes: [UInt8]?
      do throws(FileFailure) {
        bytes = try readWhole(path)
      } catch {
        throw wrong("expected a file that can be read, got: \(error.reason)")
      }
      guard let bytes else { throw wrong("expected a file that can be read, got: there is none") }
      guard let rules = ClientCertificates.Rules(authorities: bytes, scopes: scopes) else {
        throw wrong("expected 1…64 certificates in PEM (-----BEGIN CERTIFICATE-----), got none, more or a damaged one")
      }
      return rules
    }
  }
}
