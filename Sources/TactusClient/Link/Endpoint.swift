import Foundation

/// The address of a daemon: host, port, and whether it uses HTTPS.
public struct Endpoint: Sendable, Hashable, Codable, CustomStringConvertible {
  /// The host name or address, such as `pi.local`, `192.168.1.20` or `::1`.
  public var host: String
  /// The port of the daemon's HTTP server, 8000 by default.
  public var port: UInt16
  /// Whether the server uses HTTPS.
  public var isSecure: Bool
  /// The name under which the daemon announces itself, such as `Tactus on pi`, or `nil` for a daemon that was given by its address.
  public var instance: String?

  /// Creates the endpoint of a daemon.
  public init(host: String, port: UInt16 = 8000, isSecure: Bool = false, instance: String? = nil) {
    self.host = host
    self.port = port
    self.isSecure = isSecure
    self.instance = instance
  }

  /// Creates the endpoint of a daemon that was found under its announced name.
  ///
  /// The result is `nil` for a link-local IPv6 address: it means nothing without its interface, for which a URL and the
  /// daemon's check of the `Host` header have no place.
  /// - Parameter address: the numeric address, with or without an interface after a percent sign.
  init?(found instance: String, address: String, port: UInt16, isSecure: Bool) {
    let host = String(address.prefix { $0 != "%" })
    let isLinkLocal = host.contains(":") && ["fe8", "fe9", "fea", "feb"].contains(host.prefix(3).lowercased())
    guard !host.isEmpty, !isLinkLocal else { return nil }
    self.init(host: host, port: port, isSecure: isSecure, instance: instance)
  }

  /// Parses text as people type it: `pi.local`, `192.168.1.20:8001`, `[::1]:8000`, `https://pi.example.org`.
  ///
  /// The port is 8000 if the text has none, or 443 after `https://`.
  /// - Throws: `ClientError.invalid`, which states the expected form, if the text has no valid host or port.
  public init(_ text: String) throws(ClientError) {
    let trimmed = text.trimmingCharacters(in: .whitespaces)
    let expected = "expected a host with or without a port, such as pi.local:8000, got \(trimmed.debugDescription)"
    let whole = trimmed.contains("://") ? trimmed : "http://" + trimmed
    guard let parts = URLComponents(string: whole), let host = parts.host, !host.isEmpty,
      let scheme = parts.scheme, ["http", "https"].contains(scheme), parts.user == nil, parts.query == nil,
      ["", "/"].contains(parts.path)
    else { throw .invalid(field: "address", message: expected) }
    guard let port = UInt16(exactly: parts.port ?? (scheme == "https" ? 443 : 8000)), port > 0 else {
      throw .invalid(field: "address", message: expected)
    }
    self.init(
      host: host.trimmingCharacters(in: CharacterSet(charactersIn: "[]")), port: port, isSecure: scheme == "https")
  }

  /// The name under which the daemon's token and last state are kept: the announced name with or without HTTPS, since the address
  /// may change, or else the address. A daemon that is announced without HTTPS gets no token that was kept for one with HTTPS.
  public var keptAs: String {
    instance.map { "\(isSecure ? "bonjours" : "bonjour"):\($0)" } ?? description
  }

  /// The endpoint as text, such as `pi.local:8000`.
  public var description: String { "\(bracketedHost):\(port)" }

  /// The host as URLs contain it, with an IPv6 address in brackets.
  var bracketedHost: String { host.contains(":") ? "[\(host)]" : host }

  /// Returns the URL of a path such as `/api/status`, whose parts from outside have been passed through `escaped`.
  ///
  /// The result is `nil` if the host is invalid.
  public func url(_ path: String) -> URL? {
    URL(string: "\(isSecure ? "https" : "http")://\(description)\(path)")
  }

  /// The URL of the daemon's WebSocket, or `nil` if the host is invalid.
  var socketURL: URL? { URL(string: "\(isSecure ? "wss" : "ws")://\(description)/ws") }

  /// Returns a name escaped as one component of a path.
  static func escaped(_ name: String) -> String {
    name.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-_"))) ?? ""
  }

  /// Returns the path of a system. The name of one of several, such as `kettle/left`, is two components.
  static func path(of system: String) -> String {
    "/api/"
      + system.split(separator: "/", omittingEmptySubsequences: false).map { escaped(String($0)) }.joined(
        separator: "/")
  }
}
