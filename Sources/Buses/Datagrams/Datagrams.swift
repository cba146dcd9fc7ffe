import Tactus

/// The address of a datagram's sender: IPv6, or IPv4 as `::ffff:a.b.c.d`, with port and (for link-local) interface.
public struct Endpoint: Sendable, Hashable, BitwiseCopyable {
  /// The first eight of the 16 address bytes in network order, as one big-endian word.
  public var high: UInt64
  /// The last eight address bytes, as one big-endian word.
  public var low: UInt64
  /// The UDP port, 0…65535.
  public var port: UInt16
  /// The interface of a link-local address, by its number; 0 for every other address.
  public var scope: UInt32

  /// An IPv6 address, of which the two words are in network order.
  @_noLocks @_noAllocation @inlinable public init(high: UInt64, low: UInt64, port: UInt16, scope: UInt32 = 0) {
    self.high = high
    self.low = low
    self.port = port
    self.scope = scope
  }

  /// An IPv4 address: `ipv4(192, 168, 1, 20, port: 5005)`.
  @_noLocks @_noAllocation @inlinable public static func ipv4(
    _ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8, port: UInt16
  ) -> Endpoint {
    let address = UInt64(a) << 24 | UInt64(b) << 16 | UInt64(c) << 8 | UInt64(d)
    return Endpoint(high: 0, low: 0xFFFF_0000_0000 | address, port: port)
  }

  /// The other end of a link that has only one: a serial line, a connection. No network has this address.
  public static var linkPeer: Endpoint {
    @_noLocks @_noAllocation get { Endpoint(high: 0, low: 0, port: 0) }
  }
}

extension Endpoint: CustomStringConvertible {
  public var description: String {
    if high == 0, low >> 32 == 0xFFFF {
      return "\(low >> 24 & 255).\(low >> 16 & 255).\(low >> 8 & 255).\(low & 255):\(port)"
    }
    let groups = (0..<8).map { index in
      let word = index < 4 ? high : low
      return String(word >> UInt64(48 - 16 * (index % 4)) & 0xFFFF, radix: 16)
    }
    return "[\(groups.joined(separator: ":"))\(scope == 0 ? "" : "%\(scope)")]:\(port)"
  }
}

/// Buffers for one drain of a datagram port, made once and used in every tick.
///
/// `capacity` datagrams of at most `size` bytes; a longer datagram is delivered cut to `size` with its true length, so
/// that a decoder can refuse it.
public struct DatagramBatch: ~Copyable {
  /// What is known of one datagram besides its bytes.
  public struct Header: BitwiseCopyable {
    /// The sender's address.
    public var source: Endpoint
    /// The datagram's true length, which may be more than `size`.
    public var length: Int
    /// When it reached the kernel, or `nil` if the port does not know.
    public var arrivedAt: TickInstant?
  }
  /// The most datagrams that one drain takes.
  public let capacity: Int
  /// The most bytes of one datagram that are kept.
  public let size: Int
  /// Number of datagrams that the last drain received.
  public internal(set) var count = 0
  let bytes: UnsafeMutableRawPointer
  let headers: UnsafeMutablePointer<Header>

  /// Allocates `capacity` buffers of `size` bytes, both at least 1. Not for ticks.
  public init(capacity: Int = 64, size: Int = 2048) {
    precondition(capacity > 0 && size > 0)
    self.capacity = capacity
    self.size = size
    bytes = .allocate(byteCount: capacity * size, alignment: 64)
    bytes.initializeMemory(as: UInt8.self, repeating: 0, count: capacity * size)
    headers = .allocate(capacity: capacity)
    headers.initialize(
      repeating: Header(source: Endpoint(high: 0, low: 0, port: 0), length: 0), count: capacity)
  }

  deinit {
    bytes.deallocate()
    headers.deallocate()
  }

  /// The sender of the datagram `index`, 0..<`count`; another index traps.
  @_noLocks @_noAllocation
  public func source(_ index: Int) -> Endpoint {
    precondition(index < count)
    return headers[index].source
  }

  /// The true length of the datagram `index`, which may be more than `size`.
  @_noLocks @_noAllocation
  public func length(_ index: Int) -> Int {
    precondition(index < count)
    return headers[index].length
  }

  /// When the datagram `index` reached the kernel, or `nil` if the port does not know.
  @_noLocks @_noAllocation
  public func arrivedAt(_ index: Int) -> TickInstant? {
    precondition(index < count)
    return headers[index].arrivedAt
  }

  /// The stored bytes of one datagram, at most `size` of them.
  @_noLocks @_noAllocation
  func stored(_ index: Int) -> UnsafeRawPointer {
    precondition(index < count)
    return UnsafeRawPointer(bytes + index * size)
  }

  /// The bytes of one datagram, valid until the next drain; nil when the datagram was longer than `size`.
  @_noLocks @_noAllocation
  public func bytes(_ index: Int) -> UnsafeRawBufferPointer? {
    precondition(index < count)
    let length = headers[index].length
    guard length <= size else { return nil }
    return UnsafeRawBufferPointer(start: bytes + index * size, count: length)
  }
}

/// What a datagram port's receive function fills: `headers[i]` and `bytes + i × size` for each datagram.
public struct DatagramBuffers {
  /// How many datagrams there is room for.
  public let capacity: Int
  /// How many bytes there is room for in each.
  public let size: Int
  /// Where the bytes go: those of datagram `i` at `i × size`.
  public let bytes: UnsafeMutableRawPointer
  /// Where the headers go, one for each datagram.
  public let headers: UnsafeMutablePointer<DatagramBatch.Header>
  /// The tick that drains: a simulated network delivers what has arrived by then.
  public let at: TickInstant
}

/// A UDP socket as a loop sees it: never blocks, allocates nothing. Not copyable: one socket, one owning loop.
public struct DatagramPort: ~Copyable {
  /// Fills the `DatagramBuffers` behind the second pointer. Returns the number of datagrams, 0 when there are none, or
  /// −errno.
  public typealias Receive = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int
  /// Sends `count` bytes to the `Endpoint` behind the third pointer; the last argument is `now` in nanoseconds. Returns
  /// 0 or −errno.
  public typealias Send =
    @convention(c) (UnsafeMutableRawPointer, UnsafeRawPointer, UnsafeRawPointer, Int, Int64) -> Int

  let context: UnsafeMutableRawPointer
  let receiveFunction: Receive
  let sendFunction: Send
  /// What a lane waits on to be released by arrival; nil when simulated.
  public let descriptor: Int32?
  /// Set by the owning loop at the start of its tick.
  public var now = TickInstant.zero

  /// `context` must stay valid as long as the port; its maker owns it.
  public init(
    context: UnsafeMutableRawPointer, descriptor: Int32?, receive: @escaping Receive, send: @escaping Send
  ) {
    self.context = context
    self.descriptor = descriptor
    receiveFunction = receive
    sendFunction = send
  }

  /// Takes up to `batch.capacity` waiting datagrams in one call; `batch.count` says how many.
  ///
  /// Returns true when the batch is full, so that more may be waiting.
  @_noLocks @_noAllocation
  public mutating func receive(into batch: inout DatagramBatch) -> Bool {
    var buffers = DatagramBuffers(
      capacity: batch.capacity, size: batch.size, bytes: batch.bytes, headers: batch.headers, at: now)
    let result = callReceive(receiveFunction, context, &buffers)
    batch.count = result > 0 ? result : 0
    return batch.count == batch.capacity
  }

  /// Sends one datagram, or drops it when the kernel's buffer is full: false then.
  @_noLocks @_noAllocation @discardableResult
  public mutating func send(_ bytes: UnsafeRawBufferPointer, to endpoint: Endpoint) -> Bool {
    guard let base = bytes.baseAddress else { return false }
    var endpoint = endpoint
    return callSend(sendFunction, context, base, &endpoint, bytes.count, now.nanoseconds) >= 0
  }
}

@_semantics("no_performance_analysis") @inline(never)
private func callReceive(
  _ receive: DatagramPort.Receive, _ context: UnsafeMutableRawPointer, _ buffers: UnsafeMutableRawPointer
) -> Int {
  receive(context, buffers)
}

@_semantics("no_performance_analysis") @inline(never)
private func callSend(
  _ send: DatagramPort.Send, _ context: UnsafeMutableRawPointer, _ bytes: UnsafeRawPointer,
  _ endpoint: UnsafeRawPointer, _ count: Int, _ now: Int64
) -> Int {
  send(context, bytes, endpoint, count, now)
}
