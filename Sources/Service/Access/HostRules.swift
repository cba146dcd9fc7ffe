import Glibc
import HTTPTypes
import Tactus

/// Which names the service answers to and which web pages may use it: a page elsewhere must not drive a robot on the LAN,
/// neither directly nor by a name of its own that it lets point here (DNS rebinding).
///
/// `Host` must be an address in digits, `localhost`, the host's name, that name in `.local`, or listed; its port does not
/// matter. `Origin`, which only browsers send, must be the page that this door served, or listed. Both are checked for looks
/// as for commands.
public struct HostRules: Sendable {
  private let hosts: Set<String>
  private let origins: Set<Origin>

  /// - Parameters:
  ///   - machineName: what gethostname(2) says: `pi` or `pi.example.org`.
  ///   - allowedHosts: further names, for example that of a reverse proxy; a port is ignored.
  ///   - allowedOrigins: further pages: `https://home.example.org`.
  /// - Throws: `HostRulesError` for an entry that can never match.
  public init(
    machineName: String = HostRules.machineName, allowedHosts: [String] = [], allowedOrigins: [String] = []
  ) throws(HostRulesError) {
    var hosts: Set<String> = ["localhost"]
    if let name = Authority(machineName)?.host {
      hosts.formUnion([name, "\(name.prefix { $0 != "." }).local"])
    }
    for entry in allowedHosts {
      guard let authority = Authority(entry) else { throw .host(entry) }
      hosts.insert(authority.host)
    }
    var origins: Set<Origin> = []
    for entry in allowedOrigins {
      guard let origin = Origin(entry) else { throw .origin(entry) }
      origins.insert(origin)
    }
    (self.hosts, self.origins) = (hosts, origins)
  }

  /// What gethostname(2) says; empty when it says nothing.
  public static var machineName: String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "" }
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  private static let host = HTTPField.Name("Host")!

  /// - Throws: 400 `HOST_DENIED`, 403 `ORIGIN_DENIED`.
  func check(_ request: HTTPRequest) throws(APIError) {
    // The first Host field is the request's authority; a second one stays among the fields.
    guard let text = request.authority, !text.isEmpty, !request.headerFields.contains(Self.host) else {
      throw APIError(.badRequest, "HOST_DENIED", "expected one Host header field")
    }
    guard let authority = Authority(text),
      authority.isAddress || hosts.contains(authority.host) || !Mechanism.hostCheck.acts
    else {
      throw APIError(
        .badRequest, "HOST_DENIED",
        "Host: expected an IP address, localhost, this machine's name or one of service.allowed_hosts")
    }
    var isFirst = true
    for field in request.headerFields where field.name == .origin && Mechanism.originCheck.acts {
      guard isFirst, let origin = Origin(field.value),
        origin == Origin(scheme: request.scheme ?? "http", authority: authority) || origins.contains(origin)
      else {
        throw APIError(
          .forbidden, "ORIGIN_DENIED", "Origin: expected the page to come from here or from service.allowed_origins")
      }
      isFirst = false
    }
  }
}

/// An entry of the configuration's lists that can never match.
public enum HostRulesError: Error, Sendable, Equatable, CustomStringConvertible {
  /// An entry of `service.allowed_hosts` that is neither a name nor an address, such as `http://pi`.
  case host(String)
  /// An entry of `service.allowed_origins` without a scheme or a host, or with a path: `pi.local`, `null`.
  case origin(String)

  public var description: String {
    switch self {
    case .host(let entry): "service.allowed_hosts: expected names or addresses, got \(entry)"
    case .origin(let entry): "service.allowed_origins: expected https://NAME or http://NAME:PORT, got \(entry)"
    }
  }
}
