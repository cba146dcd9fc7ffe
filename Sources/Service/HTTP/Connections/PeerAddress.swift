import NIOCore

extension Channel {
  /// The peer's address without its port. An IPv4 address that arrives on an IPv6 socket is written as IPv4; an unknown address is `unknown`.
  var peerAddress: String {
    guard let address = remoteAddress?.ipAddress else { return "unknown" }
    return address.hasPrefix("::ffff:") && address.contains(".") ? String(address.dropFirst(7)) : address
  }
}
