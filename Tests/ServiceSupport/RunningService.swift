import Logging
import Service
import TestSupport

/// A service on a port of this machine, stopped when it is let go.
package final class RunningService {
  package let service: WebService
  package let log = RecordingLog()
  /// Of the service's own, also after it has stopped.
  private let reserved = ReservedPort()
  package var port: UInt16 { reserved.number }

  package init(
    systems: [any ServedSystem] = [FakeSystem()], routes: [Route] = [], allowedOrigins: [String] = [],
    bodyLimit: Int = 1_048_576, limits: ConnectionLimits = ConnectionLimits(),
    guardHealth: GuardHealth = GuardHealth(.none), additions: APIAdditions = APIAdditions(),
    accessControl: AccessControl? = nil
  ) throws {
    var configuration = ServiceConfiguration(
      port: reserved.number, version: "1.2.3", limits: limits, bodyLimit: bodyLimit, allowedOrigins: allowedOrigins)
    configuration.additions = additions
    service = WebService(
      configuration: configuration,
      accessControl: try accessControl ?? .open(allowedOrigins: allowedOrigins), systems: systems, routes: routes,
      guardHealth: guardHealth, logger: log.logger)
    try service.start()
  }

  deinit { service.stop() }

  package func request(
    _ method: String, _ path: String, headers: [String: String] = [:], body: String? = nil
  ) throws -> TestClient.Reply {
    try TestClient.request(port, method, path, headers: headers, body: body)
  }
}

extension AccessControl {
  /// Lets everyone in who comes without a token, and no token.
  package static func open(allowedOrigins: [String] = []) throws -> AccessControl {
    AccessControl(
      rules: try HostRules(allowedHosts: ["x"], allowedOrigins: allowedOrigins), tokens: NoTokens(), isOpen: true,
      now: { .zero })
  }
}

private struct NoTokens: TokenVerifier {
  func verify(_ token: String, now: Int64) -> Result<TokenGrant, TokenRefusal> { .failure(.invalid) }
}
