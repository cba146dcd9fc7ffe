import Logging
import Service

/// The clients that identify themselves by certificates, and the rules for them, which a reload may change.
struct ServiceClients: Sendable {
  /// The hub of the service, whose open WebSockets are checked again after a change.
  let hub = EventHub()
  /// The rules for certificates, or `nil` if clients are not asked for one.
  let certificates: ClientCertificates?

  /// Reads the authorities.
  ///
  /// - Throws: `ConfigError` if their file cannot be used.
  init(_ configuration: Configuration, logger: Logger) throws(ConfigError) {
    certificates = try configuration.service?.clients.read().map { ClientCertificates($0, logger: logger) }
  }

  /// Returns the change to a newer file's rules and to the authorities' file as it is now, or `nil` if both are the same as before.
  ///
  /// - Throws: 422 `BAD_CONFIG` if the authorities' file cannot be used.
  func change(from old: TakenFile, to new: TakenFile) throws(APIError) -> (any RulesChange)? {
    guard let certificates, let clients = new.configuration.service?.clients else { return nil }
    let rules: ClientCertificates.Rules?
    do throws(ConfigError) {
      rules = try clients.read()
    } catch {
      throw ReloadRefusal(ConfigErrors(errors: [error])).error
    }
    guard let rules, rules != certificates.rules else { return nil }
    var keys = old.changedKeys(in: new).filter { $0.hasPrefix("service.client_scopes") }.map {
      KeyChange($0, from: old.value($0), to: new.value($0))
    }
    if rules.authorities != certificates.rules.authorities, let path = clients.authorities {
      keys.append(KeyChange("service.client_ca", from: .text("\(path) as it was"), to: .text("\(path) as it is now")))
    }
    return DeskChange(of: "service", keys) { [hub] done in
      certificates.apply(rules)
      hub.checkTokens()
      done()
    }
  }
}
