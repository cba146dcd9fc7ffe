import Synchronization
import Tactus

/// The other end of a `MessageLink`: for the thread that talks to the radio, or for a test. One thread at a time.
public struct LinkDriver: ~Copyable, @unchecked Sendable {
  // Sendable: moving the end moves the right to use it.

  /// What a loop has asked of its connection.
  public enum Order: Sendable, Hashable {
    /// The loop wants a connection.
    case connect
    /// The loop wants the connection to end.
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

  /// Rung when the loop has sent or ordered something; clear it, then look.
  public var bell: Doorbell { link.driverBell }

  /// Whether a peer is connected, as this end has said with `up()` and `down()`.
  public var isUp: Bool { session & 1 == 1 }

  /// Reports that a peer has connected. The link must not be up.
  public mutating func up() {
    precondition(!isUp, "already up")
    tell()
  }

  /// Reports that the peer has disconnected. The link must be up. Frames of the connection that the loop has not read yet are lost.
  public mutating func down() {
    precondition(isUp, "not up")
    tell()
  }

  private mutating func tell() {
    session &+= 1
    shared.pointee.session.store(session, ordering: .releasing)
    loop.ring()
  }

  /// Hands the loop a message of at most `MessageLink.mostBytes`. Must be up. False: too long, or the loop is behind.
  public mutating func deliver(_ bytes: UnsafeRawBufferPointer) -> Bool {
    precondition(isUp, "no message without a connection")
    guard let base = bytes.baseAddress, bytes.count <= LinkMessage.capacity else { return false }
    guard incoming.push(LinkMessage(base, bytes.count, session: session)) else { return false }
    loop.ring()
    return true
  }

  /// Returns the next message of the loop for this connection, or `nil` if no message waits.
  public mutating func takeMessage() -> [UInt8]? {
    while let message = outgoing.pop() {
      guard message.session == session, isUp else { continue }
      return withUnsafeBytes(of: message.words) { Array($0.prefix(message.length)) }
    }
    return nil
  }

  /// Returns the last order that the loop gave since the previous call, or `nil` if it gave no order.
  public mutating func takeOrder() -> Order? {
    let order = shared.pointee.order.load(ordering: .acquiring)
    guard order != orderSeen else { return nil }
    orderSeen = order
    return order & 1 == 1 ? .connect : .disconnect
  }
}
