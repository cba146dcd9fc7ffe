import Synchronization
import Tactus

/// The loop's end of a `MessageLink`: behind its port and its control. One thread at a time.
struct LinkLoopEnd: ~Copyable {
  private let shared: UnsafeMutablePointer<LinkShared>
  private var incoming: RingReader<LinkMessage>
  private var outgoing: RingWriter<LinkMessage>
  private let bell: DoorbellInput
  private let button: DoorbellButton
  private let driver: DoorbellButton
  /// The connection that the loop knows of; even: none.
  private var session: UInt32 = 0
  private var order: UInt32 = 0
  /// A message of a connection that the loop does not know of yet.
  private var held: LinkMessage?
  /// The loop asks for events; otherwise it just gets messages.
  var isControlled = false

  init(
    shared: UnsafeMutablePointer<LinkShared>, incoming: consuming RingReader<LinkMessage>,
    outgoing: consuming RingWriter<LinkMessage>, bell: DoorbellInput, button: DoorbellButton, driver: DoorbellButton
  ) {
    self.shared = shared
    self.incoming = incoming
    self.outgoing = outgoing
    self.bell = bell
    self.button = button
    self.driver = driver
  }

  /// A connection that came and went unseen leaves no event; one that was replaced by another gives two.
  @_noLocks @_noAllocation
  mutating func takeEvent() -> LinkEvent? {
    let current = shared.pointee.session.load(ordering: .acquiring)
    guard current != session else { return nil }
    if session & 1 == 1 {
      session &+= 1
      return .down
    }
    session = current
    return current & 1 == 1 ? .up : nil
  }

  /// Cleared before it is looked into, the bell rings for whatever comes later; it is rung again for what is left.
  @_noLocks @_noAllocation
  mutating func receive(into buffers: UnsafePointer<DatagramBuffers>) -> Int {
    bell.clear()
    if !isControlled { session = shared.pointee.session.load(ordering: .acquiring) }
    let buffers = buffers.pointee
    var count = 0
    while count < buffers.capacity, let message = next() {
      let stored = message.length < buffers.size ? message.length : buffers.size
      withUnsafeBytes(of: message.words) {
        (buffers.bytes + count &* buffers.size).copyMemory(from: $0.baseAddress!, byteCount: stored)
      }
      buffers.headers[count].length = message.length
      buffers.headers[count].source = Endpoint(high: 0, low: 0, port: 0)
      buffers.headers[count].arrivedAt = nil
      count &+= 1
    }
    let isNews = isControlled && shared.pointee.session.load(ordering: .acquiring) != session
    if isNews || count == buffers.capacity { button.ring() }
    return count
  }

  /// The next message of the connection that the loop knows of. Those of earlier ones are dropped, those of a later one wait.
  @_noLocks @_noAllocation
  private mutating func next() -> LinkMessage? {
    while true {
      let message: LinkMessage
      if let held {
        message = held
        self.held = nil
      } else {
        guard let popped = incoming.pop() else { return nil }
        message = popped
      }
      // Numbers wrap around: the difference tells earlier from later.
      let ahead = Int32(truncatingIfNeeded: message.session &- session)
      if ahead == 0 { return message }
      if ahead > 0 {
        if isControlled {
          held = message
          return nil
        }
        session = message.session
        return message
      }
    }
  }

  /// Whether the connection that the loop knows of is still there: 0, or −ENOTCONN, or −EMSGSIZE for more bytes than it takes.
  @_noLocks @_noAllocation
  mutating func admits(_ count: Int) -> Int {
    if !isControlled { session = shared.pointee.session.load(ordering: .acquiring) }
    guard session & 1 == 1, shared.pointee.session.load(ordering: .relaxed) == session else { return -107 }
    return count <= LinkMessage.capacity ? 0 : -90
  }

  /// 0, or −errno: ENOTCONN, EMSGSIZE, EAGAIN.
  @_noLocks @_noAllocation
  mutating func send(_ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    let refusal = admits(count)
    guard refusal == 0 else { return refusal }
    guard outgoing.push(LinkMessage(bytes, count, session: session)) else { return -11 }
    driver.ring()
    return 0
  }

  @_noLocks @_noAllocation
  mutating func order(_ connects: Bool) {
    order = ((order &>> 1) &+ 1) &<< 1 | (connects ? 1 : 0)
    shared.pointee.order.store(order, ordering: .releasing)
    driver.ring()
  }
}

/// A loop's view of its connection. Not copyable: one link, one owning loop, the same as of its port.
public struct LinkControl: ~Copyable {
  private let end: UnsafeMutablePointer<LinkLoopEnd>

  init(end: UnsafeMutablePointer<LinkLoopEnd>) { self.end = end }

  /// Returns the connection's next event, or `nil` if all of them were taken. Take all at a tick's start, before
  /// the port's messages.
  @_noLocks @_noAllocation
  public mutating func takeEvent() -> LinkEvent? { end.pointee.takeEvent() }

  /// Asks for a connection, if the driver is one that connects; nothing while there is one or an attempt is under way. An
  /// attempt that fails is reported only by the absence of `up`: ask again.
  @_noLocks @_noAllocation
  public mutating func connect() { end.pointee.order(true) }

  /// Ends the connection, or the attempt.
  @_noLocks @_noAllocation
  public mutating func disconnect() { end.pointee.order(false) }
}
