import Tactus

/// A datagram port whose peer is a thread of this process, such as one that serves a WebSocket client or a Bluetooth connection.
///
/// There are two lock-free rings of 64 messages of at most 20 bytes, and a bell in each direction. A message is dropped, as by a
/// socket, if its ring is full. Every message comes from `Endpoint.linkPeer`, to which all messages are sent whatever their
/// endpoint. The loop's end belongs to one loop, the other end to one thread at a time. The bridge must outlive its port. Nothing
/// is allocated after creation.
public final class MessageBridge: @unchecked Sendable {  // safe: single producer and single consumer each way
  /// The length of the longest message in bytes, as in a GATT write.
  public static let maximumMessageLength = 20

  private let state: UnsafeMutablePointer<BridgeState>
  private let toLoop = Ring<BridgedMessage>(capacity: 64)
  private let fromLoop = Ring<BridgedMessage>(capacity: 64)
  private let arrival: Doorbell
  private var writer: RingWriter<BridgedMessage>
  private var reader: RingReader<BridgedMessage>
  /// The bell that is rung when the loop has sent a message. The reader clears the bell before it takes the messages.
  public let departure: Doorbell

  /// Creates a bridge with both rings empty.
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

  /// Returns the port for the one loop that owns it. Its `descriptor` polls readable when messages wait.
  public func port() -> DatagramPort {
    DatagramPort(context: state, descriptor: arrival.descriptor, receive: receive, send: send)
  }

  /// Sends a message to the loop, which is released. Returns `false` if the message does not have 1…20 bytes or 64 earlier messages still wait.
  @discardableResult
  public func deliver(_ bytes: some Collection<UInt8>) -> Bool {
    guard (1...Self.maximumMessageLength).contains(bytes.count) else { return false }
    var message = BridgedMessage()
    for byte in bytes { message.append(byte) }
    guard writer.push(message) else { return false }
    arrival.button.ring()
    return true
  }

  /// Returns the next message from the loop, or `nil` if no message waits.
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

  /// Appends a byte. The function may be called at most 20 times.
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

  /// Sends a message. Returns 0, −EMSGSIZE or −ENOBUFS.
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
