import Glibc

/// The network of an address as a limit counts it: an IPv4 address, an IPv6 network (/64, in which one household has 2⁶⁴
/// addresses), or the local machine.
package struct PeerNetwork: Hashable, Sendable {
  private let high: UInt64
  private let low: UInt64
  /// The text of the address if it is not an IP address; otherwise empty.
  private let name: String
  /// Whether the address is the machine's loopback, from which a reverse proxy connects.
  package let isLoopback: Bool

  /// Determines the network of an address.
  ///
  /// - Parameter address: the address without a port, such as `192.168.1.7` or `fe80::1%eth0`.
  package init(_ address: String) {
    var four = in_addr()
    if inet_pton(AF_INET, address, &four) == 1 {
      self.init(four: UInt32(bigEndian: four.s_addr))
      return
    }
    var six = in6_addr()
    guard inet_pton(AF_INET6, String(address.prefix { $0 != "%" }), &six) == 1 else {
      self.init(high: 0, low: 0, name: address, isLoopback: false)
      return
    }
    let words = withUnsafeBytes(of: six) { bytes in
      [0, 8].map { UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self)) }
    }
    // An IPv4 address mapped to IPv6 counts as one address, not as part of a network; so do ::1 and similar addresses.
    if words[0] == 0, words[1] >> 32 == 0xFFFF {
      self.init(four: UInt32(truncatingIfNeeded: words[1]))
    } else {
      self.init(high: words[0], low: words[0] == 0 ? words[1] : 0, name: "", isLoopback: words == [0, 1])
    }
  }

  private init(four: UInt32) {
    self.init(high: 0, low: 0xFFFF_0000_0000 | UInt64(four), name: "", isLoopback: four >> 24 == 127)
  }

  private init(high: UInt64, low: UInt64, name: String, isLoopback: Bool) {
    (self.high, self.low, self.name, self.isLoopback) = (high, low, name, isLoopback)
  }
}
