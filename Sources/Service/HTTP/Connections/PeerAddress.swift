import NIOCore

extension Channel {
  /// The peer's address without its port; an IPv4 address that came over an IPv6 socket as IPv4.
  var peerAddress: String {
    guard let address = remoteAddress?.ipAddress else { return "unknown" }
    return address.hasPrefix("::ffff:") && address.contains(".") ? String(address.dropFirst(7)) : address
  }
}
