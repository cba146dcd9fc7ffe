@_spi(FromOutside) import Conversions
import Glibc
import HTTPTypes
import Tactus

/// The names under which the service may be addressed and the web pages that may use it. A foreign page must not drive
/// a robot on the LAN, neither directly nor through a domain name that resolves to this host (DNS rebinding).
///
/// `Host` must be a numeric address, `localhost`, the host's name, that name in `.local`, or a listed name; its port
/// does not matter. `Origin`, which only browsers send, must be the page that this service has served, or a listed one.
/// Both are checked for every request, not only for commands.
public struct HostRules: Sendable {
  private let hosts: Set<String>
  private let origins: Set<Origin>

  /// Makes the rules from the host's name and the configured lists.
  ///
  /// - Parameters:
  ///   - machineName: the host name as gethostname(2) returns it: `pi` or `pi.example.org`.
  ///   - allowedHosts: further host names, for example the name of a reverse proxy; a port is ignored.
  ///   - allowedOrigins: the origins of further pages: `https://home.example.org`.
  /// - Throws: `HostRulesError` for an entry that can never match.
  public init(
    machineName: String = HostRules.machineName, allowedHosts: [String] = [], allowedOrigins: [String] = []
  ) throws(HostRulesError) {
    var hosts: Set<String> = ["localhost"]
    if let name = Authority(machineName)?.host {
      hosts.formUnion([name, Self.localName(of: name)].filter { !$0.isEmpty })
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

  /// The host name as gethostname(2) returns it, or an empty text if the call fails.
  public static var machineName: String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "" }
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Returns the name by which other machines of the network find a machine (mDNS): its first label in `.local`,
  /// `pi.local` of `pi.example.org`.
  ///
  /// - Parameter machineName: the host name as gethostname(2) returns it. Without a first label, as of an empty name, the result is empty, too.
  public static func localName(of machineName: String = HostRules.machineName) -> String {
    let label = machineName.prefix { $0 != "." }
    return label.isEmpty ? "" : "\(label).local"
  }

  private static let host = HTTPField.Name("Host")!

  /// Checks the `Host` and `Origin` headers of a request.
  ///
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

/// The error for an entry of `service.allowed_hosts`, `service.allowed_origins` or `service.frame_ancestors` that can never match.
public enum HostRulesError: Error, Sendable, Equatable, CustomStringConvertible {
  /// An entry of `service.allowed_hosts` that is neither a name nor an address, such as `http://pi`.
  case host(String)
  /// An entry of `service.allowed_origins` without a scheme or a host, or with a path: `pi.local`, `null`.
  case origin(String)
  /// An entry of `service.frame_ancestors` without a scheme or a host, or with a path.
  case ancestor(String)

  public var description: String {
    switch self {
    case .host(let entry): "service.allowed_hosts: expected names or addresses, got \(entry)"
    case .origin(let entry): "service.allowed_origins: expected https://NAME or http://NAME:PORT, got \(entry)"
    case .ancestor(let entry): "service.frame_ancestors: expected https://NAME or http://NAME:PORT, got \(entry)"
    }
  }
}

/// The origins whose web pages may show the service's page in a frame, as Home Assistant does in a panel. In a frame a click may not be what it
/// seems, so only listed origins may.
public struct FrameAncestors: Sendable {
  /// The header field of the page: `Content-Security-Policy` with the listed origins, or `nil` if no origin is listed. A
  /// browser that receives it ignores `X-Frame-Options`, which supports no list.
  let policy: String?

  /// Makes the rule from the configured list.
  ///
  /// - Parameter entries: origins: `http://homeassistant.local:8123`.
  /// - Throws: `HostRulesError.ancestor` for an entry that is no origin, so no entry can add a directive of its own.
  public init(_ entries: [String]) throws(HostRulesError) {
    for entry in entries where Origin(entry) == nil { throw .ancestor(entry) }
    policy = entries.isEmpty ? nil : "frame-ancestors " + entries.joined(separator: " ")
  }

  /// The rule that no origin may show the page in a frame.
  public static let none = FrameAncestors()

  private init() { policy = nil }
}

/// The access of web pages from other origins (CORS): none, unless the configuration lists the origin.
struct CrossOrigin: Sendable {
  /// The allowed origins, such as `https://panel.example`.
  let allowed: Set<Origin>

  init(_ origins: [String]) { allowed = Set(origins.compactMap { Origin($0) }) }

  /// Returns the header fields that let a page of the request's origin read the answer, or no fields if the origin is not allowed.
  func fields(for request: HTTPRequest) -> HTTPFields {
    guard let origin = request.headerFields[.origin], Origin(origin).map(allowed.contains) == true else { return [:] }
    return [.accessControlAllowOrigin: origin, .accessControlExposeHeaders: "Location", .vary: "Origin"]
  }

  /// Returns the answer to a preflight request, or `nil` if the request is no preflight or its origin is not allowed.
  func preflight(_ request: HTTPRequest, allow: String) -> APIResponse? {
    let fields = fields(for: request)
    guard !fields.isEmpty, request.headerFields[.accessControlRequestMethod] != nil else { return nil }
    var response = APIResponse(.noContent, contentType: "", headers: fields, body: [])
    response.headers[.accessControlAllowMethods] = allow
    response.headers[.accessControlAllowHeaders] = "Authorization, Content-Type"
    response.headers[.accessControlMaxAge] = "600"
    return response
  }
}
