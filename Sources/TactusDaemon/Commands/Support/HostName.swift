import Buses
@_spi(FromOutside) import Conversions
import Glibc

/// Resolves a host name or a numeric address to an endpoint. IPv4 is preferred, because a Pi's multicast name often has both.
public enum HostName {
  /// The reason why a host name could not be resolved.
  public enum Failure: Error, CustomStringConvertible {
    /// The name as given, with the reason: that of the name service, or that the name has no IPv4 or IPv6 address.
    case unknown(String, reason: String)

    public var description: String {
      switch self {
      case .unknown(let name, let reason): "\(name): \(reason)"
      }
    }
  }

  /// Returns the endpoint of a host name. Blocks until the name service has answered.
  public static func resolve(_ name: String, port: UInt16) throws(Failure) -> Endpoint {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(truncatingIfNeeded: SOCK_DGRAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let result = getaddrinfo(name, nil, &hints, &list)
    guard result == 0 else { throw .unknown(name, reason: String(cString: gai_strerror(result))) }
    defer { freeaddrinfo(list) }
    var sixth: Endpoint?
    for entry in sequence(first: list, next: { $0?.pointee.ai_next }) {
      guard let address = entry?.pointee.ai_addr else { break }
      if address.pointee.sa_family == sa_family_t(truncatingIfNeeded: AF_INET) {
        let four = UnsafeRawPointer(address).load(as: sockaddr_in.self)
        let word = UInt32(bigEndian: four.sin_addr.s_addr)
        return Endpoint(high: 0, low: 0xFFFF_0000_0000 | UInt64(word), port: port)
      }
      if address.pointee.sa_family == sa_family_t(truncatingIfNeeded: AF_INET6), sixth == nil {
        let six = UnsafeRawPointer(address).load(as: sockaddr_in6.self)
        let words = withUnsafeBytes(of: six.sin6_addr) {
          ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        sixth = Endpoint(
          high: UInt64(bigEndian: words.0), low: UInt64(bigEndian: words.1), port: port, scope: six.sin6_scope_id)
      }
    }
    if let sixth { return sixth }
    throw .unknown(name, reason: "has no IPv4 or IPv6 address")
  }
}

extension Endpoint {
  /// Whether this is an IPv4 address.
  public var isIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }
}
