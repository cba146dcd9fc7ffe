import Synchronization
import Tactus

/// A connection that carries messages between a loop and a thread that talks to a radio: rings in both directions, and the state of the connection.
///
///     let link = try MessageLink()
///     Loop("leg", …, inputs: [link.input]) { Leg(port: link.port(), link: link.control()) }
///     let peripheral = BluetoothPeripheral(…, link: link)       // takes `driver()`
///
/// The loop's ends take no lock and allocate nothing. Each end exists once and is used as long as the link exists.
public final class MessageLink: @unchecked Sendable {
  // Sendable: each end uses only its own half of the shared memory, through rings and atomics.

  /// The length of the longest message in bytes. A longer message is refused.
  public static let mostBytes = LinkMessage.capacity
  /// The source and destination of a port's messages: the connected peer.
  public static let peer = Endpoint(high: 0, low: 0, port: 0)

  private let shared: UnsafeMutablePointer<LinkShared>
  let loopEnd: UnsafeMutablePointer<LinkLoopEnd>
  private let incoming: Ring<LinkMessage>
  private let outgoing: Ring<LinkMessage>
  let loopBell: Doorbell
  let driverBell: Doorbell
  private let driverTaken = Atomic<Bool>(false)

  /// Creates a link without a connection and with empty rings.
  ///
  /// - Parameter capacity: the greatest number of messages that wait in each direction. A further message is refused: `send`
  ///   returns `false` in the loop, `deliver` in the driver.
  public init(capacity: Int = 16) throws(RuntimeError) {
    loopBell = try Doorbell()
    driverBell = try Doorbell()
    incoming = Ring(capacity: capacity)
    outgoing = Ring(capacity: capacity)
    shared = .allocate(capacity: 1)
    shared.initialize(to: LinkShared())
    loopEnd = .allocate(capacity: 1)
    loopEnd.initialize(
      to: LinkLoopEnd(
        shared: shared, incoming: incoming.reader(), outgoing: outgoing.writer(), bell: loopBell.input,
        button: loopBell.button, driver: driverBell.button))
  }

  deinit {
    loopEnd.deinitialize(count: 1)
    loopEnd.deallocate()
    shared.deinitialize(count: 1)
    shared.deallocate()
  }

  /// The input that releases the loop when a message arrives, or when a connection begins or ends.
  public var input: LoopInput { loopBell.loopInput }

  /// Returns the port for the one loop that owns it. The source of every message is `peer`. A message to any endpoint goes to the
  /// connected peer, and is refused while no peer is connected.
  public func port() -> DatagramPort {
    DatagramPort(context: loopEnd, descriptor: loopBell.descriptor, receive: receive, send: send)
  }

  /// Returns the control of the connection for the same loop. Once it has been taken, the port delivers a connection's messages
  /// only after the `up` event of the connection was taken, and never after its `down` event.
  public func control() -> LinkControl {
    loopEnd.pointee.isControlled = true
    return LinkControl(end: loopEnd)
  }

  /// Returns the driver's end. There is only one: a second call traps.
  public func driver() -> LinkDriver {
    precondition(!driverTaken.exchange(true, ordering: .relaxed), "a link has one driver")
    return LinkDriver(
      link: self, shared: shared, incoming: incoming.writer(), outgoing: outgoing.reader(), loop: loopBell.button)
  }
}

/// An event of a loop's connection.
public enum LinkEvent: Sendable, Hashable, BitwiseCopyable {
  /// A peer has connected.
  case up
  /// The peer has disconnected.
  case down
}

/// The atomics that both ends share.
struct LinkShared: ~Copyable {
  /// The number of the connection, which is odd while a peer is connected. Every connection has a different number.
  let session = Atomic<UInt32>(0)
  /// The loop's order: a count whose lowest bit is set if the loop requests a connection.
  let order = Atomic<UInt32>(0)
}

/// A message in a ring.
struct LinkMessage: BitwiseCopyable {
  static var capacity: Int {
    @_noLocks @_noAllocation get { 512 }
  }
  var session: UInt32
  var length: Int
  var words: [64 of UInt64]

  @_noLocks @_noAllocation
  init(_ bytes: UnsafeRawPointer, _ length: Int, session: UInt32) {
    self.session = session
    self.length = length
    words = .init(repeating: 0)
    withUnsafeMutableBytes(of: &words) { $0.baseAddress!.copyMemory(from: bytes, byteCount: length) }
  }
}

@_noLocks @_noAllocation
private func receive(_ context: UnsafeMutableRawPointer, _ buffers: UnsafeMutableRawPointer) -> Int {
  let buffers = buffers.assumingMemoryBound(to: DatagramBuffers.self)
  return context.assumingMemoryBound(to: LinkLoopEnd.self).pointee.receive(into: buffers)
}

@_noLocks @_noAllocation
private func send(
  _ context: UnsafeMutableRawPointer, _ bytes: UnsafeRawPointer, _ endpoint: UnsafeRawPointer, _ count: Int,
  _ now: Int64
) -> Int {
  context.assumingMemoryBound(to: LinkLoopEnd.self).pointee.send(bytes, count)
}
