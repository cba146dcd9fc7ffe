import Glibc

/// A TCP port of 127.0.0.1 that nobody else is given while this lives, also when nobody listens there.
///
/// Its socket is bound and does not listen. The kernel lets sockets with SO_REUSEADDR listen beside it, and gives the port to
/// nobody who asks for any port or connects from one.
public final class ReservedPort: Sendable {
  public let number: UInt16
  private let descriptor: Int32

  public init() {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
      }
    }
    precondition(isBound, "no port of 127.0.0.1 is free")
    self.descriptor = descriptor
    number = UInt16(bigEndian: address.sin_port)
  }

  deinit { close(descriptor) }
}
