@_spi(FromOutside) import Conversions
import Glibc

/// The host and port of a `Host` header (RFC 9110 §7.2): `pi.local`, `192.168.1.7:8000`, `[fe80::1]:8000`.
struct Authority: Equatable {
  /// The host in lower case; an IPv6 address keeps its brackets. A name is without its root dot (`localhost.`), with which it means the same (RFC 3986,
  /// 3.2.2).
  let host: String
  let port: UInt16?
  /// Whether the host is a numeric IP address, which no name service can point elsewhere.
  let isAddress: Bool

  /// Reads a host with or without a port. Returns `nil` if the host is missing, the port is invalid or the text holds user information.
  init?(_ text: some StringProtocol) {
    // The check precedes folding of case, which would turn the Kelvin sign into a k.
    guard text.utf8.count <= 300, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    let text = text.lowercased()
    guard let end = Self.endOfHost(text) else { return nil }
    var name = String(text[..<end])
    isAddress = Self.isAddress(name)
    guard !name.hasSuffix("..") else { return nil }
    // An address has no root, so one with a dot at its end is a name.
    if name.hasSuffix("."), !Self.isAddress(String(name.dropLast())) { name.removeLast() }
    host = name
    var rest = text[end...]
    if rest.isEmpty {
      port = nil
    } else {
      rest.removeFirst()
      guard rest.utf8.allSatisfy(\.isDigit) else { return nil }
      if rest.isEmpty {
        port = nil
      } else {
        guard let number = UInt16(rest) else { return nil }
        port = number
      }
    }
    guard host.hasPrefix("[") ? isAddress : host.utf8.allSatisfy({ $0.isLetterOrDigit || "-._".utf8.contains($0) }),
      !host.isEmpty
    else { return nil }
  }

  private static func endOfHost(_ text: String) -> String.Index? {
    guard text.hasPrefix("[") else { return text.firstIndex(of: ":") ?? text.endIndex }
    guard let bracket = text.firstIndex(of: "]") else { return nil }
    let end = text.index(after: bracket)
    return end == text.endIndex || text[end] == ":" ? end : nil
  }

  /// Returns whether inet_pton(3) accepts the host as an address; it rejects `127.1` and `0x7f000001`.
  private static func isAddress(_ host: String) -> Bool {
    var four = in_addr()
    var six = in6_addr()
    if host.hasPrefix("["), host.hasSuffix("]") {
      return inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &six) == 1
    }
    return inet_pton(AF_INET, host, &four) == 1
  }
}

/// The origin of a web page (RFC 6454): `https://pi.local:8443`.
struct Origin: Hashable {
  let scheme: String
  let host: String
  /// The port of the origin: the default port of the scheme unless the text gives another, or `nil` if the scheme has no known default.
  let port: UInt16?

  /// Reads an origin. Returns `nil` if the text is not an origin, such as `null`.
  init?(_ text: some StringProtocol) {
    let parts = text.lowercased().split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].hasPrefix("//"), !parts[0].isEmpty,
      parts[0].utf8.allSatisfy({ $0.isLetterOrDigit || "+-.".utf8.contains($0) }),
      let authority = Authority(parts[1].dropFirst(2))
    else { return nil }
    self.init(scheme: String(parts[0]), authority: authority)
  }

  init(scheme: String, authority: Authority) {
    self.scheme = scheme
    host = authority.host
    port = authority.port ?? (scheme == "http" ? 80 : scheme == "https" ? 443 : nil)
  }
}
