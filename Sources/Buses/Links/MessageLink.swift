import Synchronization
import Tactus

/// A connection that carries messages between a loop and a thread that talks to a radio: rings both ways, and whether
/// there is a connection.
///
///     let link = try MessageLink()
///     Loop("leg", …, inputs: [link.input]) { Leg(port: link.port(), link: link.control()) }
///     let peripheral = BluetoothPeripheral(…, link: link)       // takes `driver()`
///
/// The loop's ends take no lock and allocate nothing. Each ends exists once, and is used as long as the link is there.
public final class MessageLink: @unchecked Sendable {
  // Sendable: each end touches its own half of what is shared, and that through rings and atomics.

  /// A longer message is refused.
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

  /// - Parameter capacity: messages that wait each way at most. A further one is refused: `send` returns
  ///   `false` in the loop, `deliver` in the driver.
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

  /// What releases the loop: a message has come, or the connection has come or gone.
  public var input: LoopInput { loopBell.loopInput }

  /// The messages for the one owning loop. Every source is `peer`. A message to any endpoint goes to the connected
  /// peer, and is refused while no peer is connected.
  public func port() -> DatagramPort {
    DatagramPort(context: loopEnd, descriptor: loopBell.descriptor, receive: receive, send: send)
  }

  /// The connection for the same loop. Once it is taken, the port hands out a connection's messages only after its
  /// beginning was taken from here, and never after its end.
  public func control() -> LinkControl {
    loopEnd.pointee.isControlled = true
    return LinkControl(end: loopEnd)
  }

  /// The other end. There is one: a second call traps.
  public func driver() -> LinkDriver {
    precondition(!driverTaken.exchange(true, ordering: .relaxed), "a link has one driver")
    return LinkDriver(
      link: self, shared: shared, incoming: incoming.writer(), outgoing: outgoing.reader(), loop: loopBell.button)
  }
}

/// What a loop learns about its connection.
public enum LinkEvent: Sendable, Hashable, BitwiseCopyable {
  /// A peer has connected.
  case up
  /// The peer has disconnected.
  case down
}

/// Atomics of both ends.
struct LinkShared: ~Copyable {
  /// Odd: connected. Every connection has a number of its own.
  let session = Atomic<UInt32>(0)
  /// What the loop wants: a count, its lowest bit set for a connection.
  let order = Atomic<UInt32>(0)
}

/// One message in a ring.
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
