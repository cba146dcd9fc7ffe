@_spi(FromOutside) import Conversions

/// The address of a daemon's service as people write it: `pi.local`, `192.168.1.7:9000`, `[::1]:8000`, `https://pi.local:8000`.
public struct ServiceAddress: Sendable, Hashable, CustomStringConvertible {
  /// The name or IP address of the host; an IPv6 address has no brackets.
  public let host: String
  /// The TCP port, 1 to 65535.
  public let port: Int
  /// Whether the text began with `https://`.
  public let isSecure: Bool

  /// Reads an address. Returns `nil` if the text has none of these forms; a path other than `/` is not allowed.
  public init?(_ text: String, port defaultPort: Int = 8000) {
    var rest = Substring(text)
    isSecure = rest.hasPrefix("https://")
    if isSecure { rest = rest.dropFirst(8) } else if rest.hasPrefix("http://") { rest = rest.dropFirst(7) }
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    var digits: Substring?
    if rest.hasPrefix("[") {
      guard let end = rest.firstIndex(of: "]") else { return nil }
      host = String(rest[rest.index(after: rest.startIndex)..<end])
      let after = rest[rest.index(after: end)...]
      guard after.isEmpty || after.hasPrefix(":") else { return nil }
      digits = after.isEmpty ? nil : after.dropFirst()
    } else if rest.count(where: { $0 == ":" }) > 1 {
      // An IPv6 address without brackets has no port.
      host = String(rest)
    } else {
      let colon = rest.firstIndex(of: ":")
      host = String(rest[..<(colon ?? rest.endIndex)])
      digits = colon.map { rest[rest.index(after: $0)...] }
    }
    // The host must be a plain name, since it is written into request lines and terminals.
    let isName = host.utf8.allSatisfy { byte in
      byte > 0x20 && byte < 0x7F && !"/?#@[]\\\"<>".utf8.contains(byte)
    }
    guard !host.isEmpty, isName else { return nil }
    let number = digits.map { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int($0) : nil } ?? defaultPort
    guard let number, (1...65535).contains(number) else { return nil }
    port = number
  }

  /// The address as text, such as `pi.local:8000` or `[::1]:8000`.
  public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
