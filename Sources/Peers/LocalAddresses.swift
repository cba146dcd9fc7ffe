import Glibc

/// The addresses of this computer, as other computers reach it: WebRTC has to name them, and the start of the daemon prints one.
package enum LocalAddresses {
  /// Returns the IP addresses in digits at which a service that is bound to an address is reached.
  ///
  /// - Parameter address: the address itself, which is then the only one, or `0.0.0.0` (IPv4) or `::` (both families) for those of all interfaces
  ///   that are up, loopback included. Addresses that are valid on one link only are left out.
  package static func reachable(at address: String) -> [String] {
    guard ["0.0.0.0", "::"].contains(address) else { return [address] }
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0 else { return [] }
    defer { freeifaddrs(first) }
    var found: [String] = []
    var next = first
    while let interface = next?.pointee {
      next = interface.ifa_next
      guard let address = interface.ifa_addr, interface.ifa_flags & UInt32(truncatingIfNeeded: IFF_UP) != 0 else {
        continue
      }
      found += digits(address).map { [$0] } ?? []
    }
    return address == "::" ? found : found.filter { !$0.contains(":") }
  }

  /// Returns an IP address in digits, or `nil` if it is of another family, or valid on one link only.
  private static func digits(_ address: UnsafeMutablePointer<sockaddr>) -> String? {
    let lengths = [
      AF_INET: MemoryLayout<sockaddr_in>.size, AF_INET6: MemoryLayout<sockaddr_in6>.size,
    ]
    guard let length = lengths[Int32(address.pointee.sa_family)] else { return nil }
    var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    guard
      getnameinfo(
        address, socklen_t(clamping: length), &name, socklen_t(clamping: name.count), nil, 0, NI_NUMERICHOST) == 0
    else { return nil }
    let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // An address of one link comes with its interface: fe80::1%eth0.
    return text.contains("%") || text.lowercased().hasPrefix("fe80:") ? nil : text
  }
}
