import Tactus

/// A datagram port whose other end is a thread of this process: a WebSocket client, a Bluetooth connection.
///
/// Two lock-free rings of 64 messages of at most 20 bytes, and a bell each way. What finds its ring full is dropped, as by a
/// socket; every message comes from `Endpoint.linkPeer`, wherever one is sent to. The loop's end belongs to one loop, the other end to one thread at a time. Must outlive its port; allocates nothing
/// after creation.
public final class MessageBridge: @unchecked Sendable {  // safe: single producer and single consumer each way
  /// Bytes of the longest message, as in a GATT write.
  public static let maximumMessageLength = 20

  private let state: UnsafeMutablePointer<BridgeState>
  private let toLoop = Ring<BridgedMessage>(capacity: 64)
  private let fromLoop = Ring<BridgedMessage>(capacity: 64)
  private let arrival: Doorbell
  private var writer: RingWriter<BridgedMessage>
  private var reader: RingReader<BridgedMessage>
  /// Rung when the loop has sent. The reader clears it before it takes the messages.
  public let departure: Doorbell

  /// A bridge with both rings empty.
  ///
  /// - Throws: `.system` when the process or the machine has no descriptor left.
  public init() throws(RuntimeError) {
    arrival = try Doorbell()
    departure = try Doorbell()
    state = .allocate(capacity: 1)
    state.initialize(
      to: BridgeState(
        inbound: toLoop.reader(), outbound: fromLoop.writer(), arrival: arrival.input, departure: departure.button))
    writer = toLoop.writer()
    reader = fromLoop.reader()
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// The loop's end; its `descriptor` polls readable when messages wait.
  public func port() -> DatagramPort {
    DatagramPort(context: state, descriptor: arrival.descriptor, receive: receive, send: send)
  }

  /// To the loop, which is released. False: not 1…20 bytes, or the loop has not taken the 64 before.
  @discardableResult
  public func deliver(_ bytes: some Collection<UInt8>) -> Bool {
    guard (1...Self.maximumMessageLength).contains(bytes.count) else { return false }
    var message = BridgedMessage()
    for byte in bytes { message.append(byte) }
    guard writer.push(message) else { return false }
    arrival.button.ring()
    return true
  }

  /// The next message from the loop; nil when there is none.
  public func take() -> [UInt8]? {
    guard let message = reader.pop() else { return nil }
    return (0..<message.count).map { message.bytes[$0] }
  }
}

struct BridgedMessage: Sendable, BitwiseCopyable {
  private(set) var bytes: [20 of UInt8]
  private(set) var count = 0

  @_noLocks @_noAllocation
  init() { bytes = .init(repeating: 0) }

  /// At most twenty times.
  @_noLocks @_noAllocation
  mutating func append(_ byte: UInt8) {
    bytes[count] = byte
    count &+= 1
  }
}

private struct BridgeState: ~Copyable {
  var inbound: RingReader<BridgedMessage>
  var outbound: RingWriter<BridgedMessage>
  let arrival: DoorbellInput
  let departure: DoorbellButton

  init(
    inbound: consuming RingReader<BridgedMessage>, outbound: consuming RingWriter<BridgedMessage>,
    arrival: DoorbellInput, departure: DoorbellButton
  ) {
    self.inbound = inbound
    self.outbound = outbound
    self.arrival = arrival
    self.departure = departure
  }

  @_noLocks @_noAllocation
  mutating func receive(_ buffers: DatagramBuffers) -> Int {
    arrival.clear()
    var found = 0
    while found < buffers.capacity, let message = inbound.pop() {
      let kept = message.count < buffers.size ? message.count : buffers.size
      let target = buffers.bytes + found * buffers.size
      for place in 0..<kept { target.storeBytes(of: message.bytes[place], toByteOffset: place, as: UInt8.self) }
      buffers.headers[found].source = .linkPeer
      buffers.headers[found].length = message.count
      buffers.headers[found].arrivedAt = nil
      found &+= 1
    }
    return found
  }

  /// 0, −EMSGSIZE or −ENOBUFS.
  @_noLocks @_noAllocation
  mutating func send(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard bytes.count >= 1, bytes.count <= 20 else { return -90 }
    var message = BridgedMessage()
    for index in 0..<bytes.count { message.append(bytes[index]) }
    guard outbound.push(message) else { return -105 }
    departure.ring()
    return 0
  }
}

@_noLocks @_noAllocation
private func receive(_ context: UnsafeMutableRawPointer, _ buffers: UnsafeMutableRawPointer) -> Int {
  context.assumingMemoryBound(to: BridgeState.self).pointee.receive(
    buffers.assumingMemoryBound(to: DatagramBuffers.self).pointee)
}

@_noLocks @_noAllocation
private func send(
  _ context: UnsafeMutableRawPointer, _ bytes: UnsafeRawPointer, _ endpoint: UnsafeRawPointer, _ count: Int,
  _ now: Int64
) -> Int {
  context.assumingMemoryBound(to: BridgeState.self).pointee.send(UnsafeRawBufferPointer(start: bytes, count: count))
}
