import Glibc

/// Host and port as `Host` carries them (RFC 9110 §7.2): `pi.local`, `192.168.1.7:8000`, `[fe80::1]:8000`.
struct Authority: Equatable {
  /// Lower case; an IPv6 address in its brackets.
  let host: String
  let port: UInt16?
  /// Whether the host is an address in digits, which no name service can point elsewhere.
  let isAddress: Bool

  /// Reads a host with or without a port; `nil` without a host, with user information, or with an invalid port.
  init?(_ text: some StringProtocol) {
    // Before case is folded: the Kelvin sign would become a k.
    guard text.utf8.count <= 300, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    let text = text.lowercased()
    guard let end = Self.endOfHost(text) else { return nil }
    host = String(text[..<end])
    isAddress = Self.isAddress(host)
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

  /// As inet_pton(3) reads it: no `127.1`, no `0x7f000001`.
  private static func isAddress(_ host: String) -> Bool {
    var four = in_addr()
    var six = in6_addr()
    if host.hasPrefix("["), host.hasSuffix("]") {
      return inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &six) == 1
    }
    return inet_pton(AF_INET, host, &four) == 1
  }
}

/// Where a web page comes from (RFC 6454): `https://pi.local:8443`.
struct Origin: Hashable {
  let scheme: String
  let host: String
  /// The scheme's own unless given.
  let port: UInt16?

  /// Reads an origin. It is `nil` if the text is no origin, as `null` is not.
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
