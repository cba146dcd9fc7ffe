#if os(Linux)
  import Dispatch
  import Foundation
  import Glibc

  /// The address and port to which queries go.
  struct QueryGroup: Sendable {
    /// The address, the first byte first.
    var address: [UInt8]
    var port: UInt16

    /// The group of multicast DNS (RFC 6762, section 3).
    static let multicastDNS = QueryGroup(address: [224, 0, 0, 251], port: 5353)

    var isMulticast: Bool { address[0] & 0xF0 == 224 }
  }

  /// A UDP socket on a port of its own, for queries to a group and the answers to them.
  ///
  /// Dispatch reads from it, and nothing blocks. `@unchecked Sendable`: `isOpen` is behind `lock`; the descriptor is closed on `queue`, after the
  /// last reading and under the lock, and is not written to afterwards.
  final class QuerySocket: @unchecked Sendable {
    /// The reason why a query could not be sent, in words.
    struct Failure: Error, Equatable {
      var reason: String
    }

    /// The datagrams that have come from the group's port, up to a hundred that nobody has taken yet. The stream ends when the socket is closed.
    let datagrams: AsyncStream<[UInt8]>
    private let continuation: AsyncStream<[UInt8]>.Continuation
    private let group: QueryGroup
    private let descriptor: Int32
    private let queue = DispatchQueue(label: "tactus-discovery")
    private let arrivals: any DispatchSourceRead
    private let lock = NSLock()
    private var isOpen = true

    /// Opens the socket.
    init(to group: QueryGroup) throws(Failure) {
      let flags = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
      let descriptor = Glibc.socket(AF_INET, flags, 0)
      guard descriptor >= 0 else { throw Failure(reason: "no UDP socket: \(String(cString: strerror(errno)))") }
      self.descriptor = descriptor
      self.group = group
      (datagrams, continuation) = AsyncStream<[UInt8]>.makeStream(bufferingPolicy: .bufferingNewest(100))
      arrivals = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
      // The handlers keep the socket until the source is cancelled.
      arrivals.setEventHandler { self.receive() }
      arrivals.setCancelHandler { self.end() }
      arrivals.activate()
    }

    /// Sends a query, to a multicast group on every interface that is up.
    func send(_ query: [UInt8]) throws(Failure) {
      let isSent = lock.withLock { isOpen && sendToAll(query) }
      guard isSent else {
        throw Failure(reason: "no query can be sent: expected an IPv4 interface that is up, with multicast, got none")
      }
    }

    /// Closes the socket, which ends `datagrams`.
    func close() { arrivals.cancel() }

    private func end() {
      lock.withLock {
        isOpen = false
        _ = Glibc.close(descriptor)
      }
      continuation.finish()
    }

    /// Returns whether the query was sent at least once.
    private func sendToAll(_ query: [UInt8]) -> Bool {
      guard group.isMulticast else { return transmit(query) }
      var isSent = false
      for link in Self.links() {
        var address = link
        setsockopt(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_IF, &address, socklen_t(MemoryLayout<in_addr>.size))
        if transmit(query) { isSent = true }
      }
      return isSent
    }

    private func transmit(_ bytes: [UInt8]) -> Bool {
      var target = sockaddr_in()
      target.sin_family = sa_family_t(AF_INET)
      target.sin_port = group.port.bigEndian
      target.sin_addr.s_addr = group.address.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }.bigEndian
      let sent = withUnsafePointer(to: &target) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      return sent == bytes.count
    }

    /// Reads the datagrams that have arrived. Answers come from the group's port (RFC 6762, section 6); all others are
    /// dropped.
    private func receive() {
      while true {
        var source = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bytes = [UInt8](unsafeUninitializedCapacity: DNSMessage.longestBytes) { buffer, count in
          let got = withUnsafeMutablePointer(to: &source) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
              recvfrom(descriptor, buffer.baseAddress, buffer.count, 0, $0, &size)
            }
          }
          count = max(0, got)
        }
        guard !bytes.isEmpty else { return }
        if UInt16(bigEndian: source.sin_port) == group.port { continuation.yield(bytes) }
      }
    }

    /// Returns the IPv4 addresses of the interfaces that are up and take multicast, and of loopback.
    private static func links() -> [in_addr] {
      var first: UnsafeMutablePointer<ifaddrs>?
      guard getifaddrs(&first) == 0 else { return [] }
      defer { freeifaddrs(first) }
      let up = UInt32(truncatingIfNeeded: IFF_UP)
      let takesMulticast = UInt32(truncatingIfNeeded: IFF_MULTICAST) | UInt32(truncatingIfNeeded: IFF_LOOPBACK)
      var found: [in_addr] = []
      var next = first
      while let interface = next?.pointee {
        next = interface.ifa_next
        guard let address = interface.ifa_addr, Int32(address.pointee.sa_family) == AF_INET,
          interface.ifa_flags & up != 0, interface.ifa_flags & takesMulticast != 0
        else { continue }
        found.append(address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee.sin_addr })
      }
      return found
    }
  }
#endif
