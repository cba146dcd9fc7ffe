import Tactus

/// The address of a datagram's sender: an IPv6 address, or an IPv4 address as `::ffff:a.b.c.d`, with a port and, if it is link-local, an interface.
public struct Endpoint: Sendable, Hashable, BitwiseCopyable {
  /// The first eight of the 16 address bytes in network order, as one big-endian word.
  public var high: UInt64
  /// The last eight address bytes, as one big-endian word.
  public var low: UInt64
  /// The UDP port, 0…65535.
  public var port: UInt16
  /// The number of the interface of a link-local address, or 0 for any other address.
  public var scope: UInt32

  /// Creates an IPv6 address from its two words in network order.
  @_noLocks @_noAllocation @inlinable public init(high: UInt64, low: UInt64, port: UInt16, scope: UInt32 = 0) {
    self.high = high
    self.low = low
    self.port = port
    self.scope = scope
  }

  /// Creates an IPv4 address: `ipv4(192, 168, 1, 20, port: 5005)`.
  @_noLocks @_noAllocation @inlinable public static func ipv4(
    _ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8, port: UInt16
  ) -> Endpoint {
    let address = UInt64(a) << 24 | UInt64(b) << 16 | UInt64(c) << 8 | UInt64(d)
    return Endpoint(high: 0, low: 0xFFFF_0000_0000 | address, port: port)
  }

  /// The peer of a link that has only one, such as a serial line or a connection. No network has this address.
  public static var linkPeer: Endpoint {
    @_noLocks @_noAllocation get { Endpoint(high: 0, low: 0, port: 0) }
  }

  /// Returns whether both addresses are equal, in place of `==` in ticks.
  @_noLocks @_noAllocation @inlinable public func isSame(as other: Endpoint) -> Bool {
    low == other.low && port == other.port && high == other.high && scope == other.scope
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

/// Buffers for receiving datagrams from a port, created once and used in every tick.
///
/// There are `capacity` buffers of `size` bytes. A longer datagram is cut to `size` and delivered with its true length, so that a
/// decoder can refuse it.
public struct DatagramBatch: ~Copyable {
  /// The properties of a datagram besides its bytes.
  public struct Header: BitwiseCopyable {
    /// The sender's address.
    public var source: Endpoint
    /// The datagram's true length, which may be more than `size`.
    public var length: Int
    /// The instant at which the datagram reached the kernel, or `nil` if the port does not report it.
    public var arrivedAt: TickInstant?
  }
  /// The greatest number of datagrams that one call of `receive` takes.
  public let capacity: Int
  /// The greatest number of bytes that are kept of one datagram.
  public let size: Int
  /// The number of datagrams that the last call of `receive` took.
  public internal(set) var count = 0
  let bytes: UnsafeMutableRawPointer
  let headers: UnsafeMutablePointer<Header>

  /// Allocates `capacity` buffers of `size` bytes, both at least 1. This is not for ticks.
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

  /// Returns the sender of datagram `index`, 0..<`count`; another index traps.
  @_noLocks @_noAllocation
  public func source(_ index: Int) -> Endpoint {
    precondition(index < count)
    return headers[index].source
  }

  /// Returns the true length of datagram `index`, which may be more than `size`.
  @_noLocks @_noAllocation
  public func length(_ index: Int) -> Int {
    precondition(index < count)
    return headers[index].length
  }

  /// Returns the instant at which datagram `index` reached the kernel, or `nil` if the port does not report it.
  @_noLocks @_noAllocation
  public func arrivedAt(_ index: Int) -> TickInstant? {
    precondition(index < count)
    return headers[index].arrivedAt
  }

  /// Returns the stored bytes of one datagram, at most `size` of them.
  @_noLocks @_noAllocation
  func stored(_ index: Int) -> UnsafeRawPointer {
    precondition(index < count)
    return UnsafeRawPointer(bytes + index * size)
  }

  /// Returns the bytes of one datagram, valid until the next call of `receive`, or `nil` if the datagram was longer than `size`.
  @_noLocks @_noAllocation
  public func bytes(_ index: Int) -> UnsafeRawBufferPointer? {
    precondition(index < count)
    let length = headers[index].length
    guard length <= size else { return nil }
    return UnsafeRawBufferPointer(start: bytes + index * size, count: length)
  }
}

/// The buffers that a datagram port's receive function fills: `headers[i]` and `bytes + i × size` for datagram `i`.
public struct DatagramBuffers {
  /// The number of datagrams for which there is room.
  public let capacity: Int
  /// The number of bytes for which there is room in each buffer.
  public let size: Int
  /// The memory for the bytes; those of datagram `i` begin at `i × size`.
  public let bytes: UnsafeMutableRawPointer
  /// The memory for the headers, one for each datagram.
  public let headers: UnsafeMutablePointer<DatagramBatch.Header>
  /// The instant of the tick that receives. A simulated network delivers the datagrams that have arrived by then.
  public let at: TickInstant
}

/// A UDP socket as a loop uses it. It never blocks and allocates nothing. The type is not copyable: one loop owns the socket.
public struct DatagramPort: ~Copyable {
  /// Fills the `DatagramBuffers` to which the second pointer points. Returns the number of datagrams, which is 0 if none is waiting, or −errno.
  public typealias Receive = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int
  /// Sends `count` bytes to the `Endpoint` behind the third pointer. The last argument is `now` in nanoseconds. Returns 0 or −errno.
  public typealias Send =
    @convention(c) (UnsafeMutableRawPointer, UnsafeRawPointer, UnsafeRawPointer, Int, Int64) -> Int

  let context: UnsafeMutableRawPointer
  let receiveFunction: Receive
  let sendFunction: Send
  /// The descriptor on which a lane waits for arrivals, or `nil` for a simulated port.
  public let descriptor: Int32?
  /// The instant of the present tick, set by the owning loop at the start of the tick.
  public var now = TickInstant.zero

  /// Creates a port. `context` must stay valid as long as the port; its creator owns it.
  public init(
    context: UnsafeMutableRawPointer, descriptor: Int32?, receive: @escaping Receive, send: @escaping Send
  ) {
    self.context = context
    self.descriptor = descriptor
    receiveFunction = receive
    sendFunction = send
  }

  /// Takes up to `batch.capacity` waiting datagrams in one call and sets `batch.count` to their number.
  ///
  /// Returns `true` if the batch is full, so that more datagrams may be waiting.
  @_noLocks @_noAllocation
  public mutating func receive(into batch: inout DatagramBatch) -> Bool {
    var buffers = DatagramBuffers(
      capacity: batch.capacity, size: batch.size, bytes: batch.bytes, headers: batch.headers, at: now)
    let result = receiveOrReplay(&buffers)
    batch.count = result > 0 ? result : 0
    return batch.count == batch.capacity
  }

  /// Sends one datagram. Returns `false`, and drops the datagram, if the kernel's buffer is full.
  @_noLocks @_noAllocation @discardableResult
  public mutating func send(_ bytes: UnsafeRawBufferPointer, to endpoint: Endpoint) -> Bool {
    guard let base = bytes.baseAddress else { return false }
    var endpoint = endpoint
    return carryOut(base, &endpoint, bytes.count) >= 0
  }
}

extension DatagramPort {
  /// Receives datagrams from the socket and records them, or in a replay returns the recorded ones.
  @_noLocks @_noAllocation
  private func receiveOrReplay(_ buffers: UnsafeMutablePointer<DatagramBuffers>) -> Int {
    guard let tape = TickTape.current else { return callReceive(receiveFunction, context, buffers) }
    var result = 0
    if !tape.isReplaying {
      let paused = TickTape.pause()
      result = callReceive(receiveFunction, context, buffers)
      TickTape.resume(paused)
    }
    tape.gets(.datagramsGot, &result, 8)
    let (size, bytes, headers) = (buffers.pointee.size, buffers.pointee.bytes, buffers.pointee.headers)
    let count = result < buffers.pointee.capacity ? result : buffers.pointee.capacity
    var index = 0
    while index < count {
      tape.gets(.datagramsGot, headers + index, MemoryLayout<DatagramBatch.Header>.size)
      let length = headers[index].length
      tape.gets(.datagramsGot, bytes + index &* size, length < 0 ? 0 : length < size ? length : size)
      index &+= 1
    }
    return result
  }

  /// Sends and records a datagram, or in a replay compares it. The address is sent in words, since its fields have gaps between them.
  @_noLocks @_noAllocation
  private func carryOut(_ bytes: UnsafeRawPointer, _ endpoint: UnsafePointer<Endpoint>, _ count: Int) -> Int {
    guard let tape = TickTape.current else {
      return callSend(sendFunction, context, bytes, endpoint, count, now.nanoseconds)
    }
    let place = endpoint.pointee
    var address = (place.high, place.low, UInt64(place.port) | UInt64(place.scope) << 32)
    tape.sends(.datagramSent, &address, 24)
    tape.sends(.datagramSent, bytes, count)
    var result = 0
    if !tape.isReplaying {
      let paused = TickTape.pause()
      result = callSend(sendFunction, context, bytes, endpoint, count, now.nanoseconds)
      TickTape.resume(paused)
    }
    tape.gets(.datagramsGot, &result, 8)
    return result
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
