import Buses
import CBusesLinux
@_spi(FromOutside) import Conversions
import Tactus

/// A UDP socket of the kernel, bound to one local address, which never blocks.
///
/// The object owns the descriptor and closes it when released, so it must be kept as long as its port. SO_REUSEADDR is not set,
/// since two daemons on one port would share its datagrams by chance.
public final class LinuxDatagramSocket: @unchecked Sendable {
  // Safe to send: the pointer never changes, and what is behind it is used by the port's one owning loop, except for
  // values that the kernel keeps.
  private let socket: OpaquePointer
  /// The address and port in effect.
  public let localEndpoint: Endpoint
  /// The size of the receive buffer in effect in the kernel's accounting, in which a small datagram costs about 0.8 KB. The kernel
  /// doubles the requested size, and without CAP_NET_ADMIN limits it by net.core.rmem_max.
  public let receiveBufferBytes: Int

  /// Binds a socket to `address` ("127.0.0.1", "0.0.0.0" for every IPv4 interface, "::" for every interface and both families, or
  /// "fe80::1%eth0"; never a host name) and to `port`, 0 for any free one.
  public init(address: String, port: UInt16, receiveBufferBytes: Int = 4 << 20) throws(BusOpenError) {
    precondition((1...1 << 30).contains(receiveBufferBytes))
    var local = tactus_endpoint()
    local.port = port
    let family = tactus_parse_address(address, &local)
    guard family > 0 else { throw .badBindAddress(address) }
    var made: OpaquePointer?
    let result = tactus_datagram_open(family, &local, Int32(clamping: receiveBufferBytes), &made)
    guard result >= 0, let made else {
      throw Self.bindError(errno: -result, address: address, port: port)
    }
    socket = made
    let naming = tactus_datagram_local(made, &local)
    precondition(naming >= 0, "a bound socket has a name")
    localEndpoint = Endpoint(local)
    self.receiveBufferBytes = Int(tactus_datagram_buffer(made))
  }

  deinit { tactus_datagram_close(socket) }

  /// The number of datagrams that the kernel dropped because the receive buffer was full, since the socket was opened (modulo 2³²),
  /// or `nil` if the kernel does not report it (before Linux 4.12). Reading takes one system call and is possible from any thread.
  public var kernelDrops: Int64? {
    let drops = tactus_datagram_drops(socket)
    return drops >= 0 ? drops : nil
  }

  /// Returns the socket for the one loop that owns it.
  public func port() -> DatagramPort {
    DatagramPort(
      context: UnsafeMutableRawPointer(socket), descriptor: tactus_datagram_descriptor(socket), receive: receive,
      send: send)
  }

  private static func bindError(errno: Int32, address: String, port: UInt16) -> BusOpenError {
    switch errno {
    case 98: .portInUse(address: address, port: port)  // EADDRINUSE
    case 99, 19: .addressNotHere(address)  // EADDRNOTAVAIL, ENODEV (unknown interface)
    case 13, 1: .portNotPermitted(address: address, port: port)  // EACCES, EPERM
    default: .system(what: "UDP port \(port) on \(address)", errno: errno)
    }
  }
}

@_noLocks @_noAllocation
private func receive(_ context: UnsafeMutableRawPointer, _ buffers: UnsafeMutableRawPointer) -> Int {
  let socket = OpaquePointer(context)
  let buffers = buffers.assumingMemoryBound(to: DatagramBuffers.self).pointee
  var count = 0
  while count < buffers.capacity {
    let room = min(buffers.capacity - count, TACTUS_DATAGRAM_BATCH)
    let result = tactus_datagram_receive(socket, buffers.bytes + count * buffers.size, room, buffers.size)
    if result < 0 { return count > 0 ? count : result }
    let lead = result > 0 ? WallClock.leadOverMonotonic : .zero
    for index in 0..<result {
      var source = tactus_endpoint()
      buffers.headers[count + index].length = tactus_datagram_header(socket, index, &source)
      buffers.headers[count + index].source = Endpoint(source)
      let stamp = tactus_datagram_stamp(socket, index)
      buffers.headers[count + index].arrivedAt = stamp > 0 ? TickInstant(nanoseconds: stamp) - lead : nil
    }
    count += result
    if result < room { break }
  }
  return count
}

@_noLocks @_noAllocation
private func send(
  _ context: UnsafeMutableRawPointer, _ bytes: UnsafeRawPointer, _ endpoint: UnsafeRawPointer, _ count: Int,
  _ now: Int64
) -> Int {
  var target = tactus_endpoint(endpoint.load(as: Endpoint.self))
  return tactus_datagram_send(OpaquePointer(context), &target, bytes, count)
}

extension Endpoint {
  /// Parses `192.168.1.5:5005`, `[fe80::1%2]:5005` or `[fe80::1%eth0]:5005`. The result is `nil` for any other text, including host names.
  public init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":") else { return nil }
    let digits = text[text.index(after: colon)...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits) else {
      return nil
    }
    var address = text[..<colon]
    let bracketed = address.first == "[" && address.last == "]"
    if bracketed { address = address.dropFirst().dropLast() }
    var parsed = tactus_endpoint()
    parsed.port = port
    guard tactus_parse_address(String(address), &parsed) == (bracketed ? 6 : 4) else { return nil }
    self.init(parsed)
  }

  @_noLocks @_noAllocation
  init(_ endpoint: tactus_endpoint) {
    self.init(high: endpoint.high, low: endpoint.low, port: endpoint.port, scope: endpoint.scope)
  }
}

extension tactus_endpoint {
  @_noLocks @_noAllocation
  init(_ endpoint: Endpoint) {
    self.init(high: endpoint.high, low: endpoint.low, scope: endpoint.scope, port: endpoint.port)
  }
}
