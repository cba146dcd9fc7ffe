import Synchronization
import Tactus

/// The end of a `MessageLink` that drives the connection, for the thread that talks to the radio or for a test. One thread may use it at a time.
public struct LinkDriver: ~Copyable, @unchecked Sendable {
  // Sendable: moving the end moves the right to use it.

  /// An order of a loop to its connection.
  public enum Order: Sendable, Hashable {
    /// The loop requests a connection.
    case connect
    /// The loop requests the end of the connection.
    case disconnect
  }

  private let link: MessageLink
  private let shared: UnsafeMutablePointer<LinkShared>
  private var incoming: RingWriter<LinkMessage>
  private var outgoing: RingReader<LinkMessage>
  private let loop: DoorbellButton
  private var session: UInt32 = 0
  private var orderSeen: UInt32 = 0

  init(
    link: MessageLink, shared: UnsafeMutablePointer<LinkShared>, incoming: consuming RingWriter<LinkMessage>,
    outgoing: consuming RingReader<LinkMessage>, loop: DoorbellButton
  ) {
    self.link = link
    self.shared = shared
    self.incoming = incoming
    self.outgoing = outgoing
    self.loop = loop
  }

  /// The bell that is rung when the loop has sent a message or given an order. Clear the bell before reading messages and orders.
  public var bell: Doorbell { link.driverBell }

  /// Whether a peer is connected, as reported by `up()` and `down()`.
  public var isUp: Bool { session & 1 == 1 }

  /// Reports that a peer has connected. The link must not be up.
  public mutating func up() {
    precondition(!isUp, "already up")
    advanceSession()
  }

  /// Reports that the peer has disconnected. The link must be up. Frames of the connection that the loop has not read yet are lost.
  public mutating func down() {
    precondition(isUp, "not up")
    advanceSession()
  }

  private mutating func advanceSession() {
    session &+= 1
    shared.pointee.session.store(session, ordering: .releasing)
    loop.ring()
  }

  /// Passes a message of at most `MessageLink.mostBytes` to the loop. The link must be up. Returns `false` if the message is too
  /// long or the loop is behind.
  public mutating func deliver(_ bytes: UnsafeRawBufferPointer) -> Bool {
    precondition(isUp, "no message without a connection")
    guard let base = bytes.baseAddress, bytes.count <= LinkMessage.capacity else { return false }
    guard incoming.push(LinkMessage(base, bytes.count, session: session)) else { return false }
    loop.ring()
    return true
  }

  /// Returns the loop's next message for this connection, or `nil` if no message waits.
  public mutating func takeMessage() -> [UInt8]? {
    while let message = outgoing.pop() {
      guard message.session == session, isUp else { continue }
      return withUnsafeBytes(of: message.words) { Array($0.prefix(message.length)) }
    }
    return nil
  }

  /// Returns the last order that the loop has given since the previous call, or `nil` if it has given no order.
  public mutating func takeOrder() -> Order? {
    let order = shared.pointee.order.load(ordering: .acquiring)
    guard order != orderSeen else { return nil }
    orderSeen = order
    return order & 1 == 1 ? .connect : .disconnect
  }
}
