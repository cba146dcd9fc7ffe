import Foundation

/// Where a daemon is reached.
public struct Endpoint: Sendable, Hashable, Codable, CustomStringConvertible {
  /// A host name or an address: `pi.local`, `192.168.1.20`, `::1`.
  public var host: String
  /// The port of the daemon's HTTP door; 8000 unless it is configured otherwise.
  public var port: UInt16
  /// Whether the door speaks HTTPS.
  public var isSecure: Bool

  /// Creates the endpoint of a host.
  public init(host: String, port: UInt16 = 8000, isSecure: Bool = false) {
    self.host = host
    self.port = port
    self.isSecure = isSecure
  }

  /// Reads what a person types: `pi.local`, `192.168.1.20:8001`, `[::1]:8000`, `https://pi.example.org`.
  ///
  /// Without a port it is 8000, or 443 behind `https://`.
  /// - Throws: `ClientError.invalid`, which says what was expected, if the text names no host or no port.
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

  /// `pi.local:8000`.
  public var description: String { "\(bracketedHost):\(port)" }

  /// The host as an address has it: IPv6 in brackets.
  var bracketedHost: String { host.contains(":") ? "[\(host)]" : host }

  /// The address of a path: `/api/status`. A part of the path from outside has gone through `escaped`.
  ///
  /// `nil` if the host is no host.
  public func url(_ path: String) -> URL? {
    URL(string: "\(isSecure ? "https" : "http")://\(description)\(path)")
  }

  /// The address of the daemon's WebSocket; `nil` if the host is no host.
  var socketURL: URL? { URL(string: "\(isSecure ? "wss" : "ws")://\(description)/ws") }

  /// A name as one part of a path.
  static func escaped(_ name: String) -> String {
    name.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-_"))) ?? ""
  }
}
