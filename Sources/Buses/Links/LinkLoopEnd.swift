import Synchronization
import Tactus

/// The loop's end of a `MessageLink`, used by its port and its control. One thread may use it at a time.
struct LinkLoopEnd: ~Copyable {
  private let shared: UnsafeMutablePointer<LinkShared>
  private var incoming: RingReader<LinkMessage>
  private var outgoing: RingWriter<LinkMessage>
  private let bell: DoorbellInput
  private let button: DoorbellButton
  private let driver: DoorbellButton
  /// The number of the connection that the loop knows of. An even number means no connection.
  private var session: UInt32 = 0
  private var order: UInt32 = 0
  /// A message of a connection that the loop does not know of yet, or `nil` if the loop has seen every message.
  private var held: LinkMessage?
  /// Whether the loop takes events. Otherwise it gets messages without events.
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

  /// Returns the next event of the connection, or `nil` if all were taken. A connection that came and went between two calls gives
  /// no event; a connection that was replaced by another gives two.
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

  /// Fills the buffers with waiting messages and returns their number. The bell is cleared before the ring is read, so that later
  /// messages ring it, and is rung again if messages remain.
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

  /// Returns the next message of the connection that the loop knows of, or `nil` if none waits. Messages of earlier connections are
  /// dropped, and those of a later connection wait.
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

  /// Checks whether `count` bytes can be sent. Returns 0, −ENOTCONN if the connection that the loop knows of has ended, or
  /// −EMSGSIZE if there are too many bytes.
  @_noLocks @_noAllocation
  mutating func admits(_ count: Int) -> Int {
    if !isControlled { session = shared.pointee.session.load(ordering: .acquiring) }
    guard session & 1 == 1, shared.pointee.session.load(ordering: .relaxed) == session else { return -107 }
    return count <= LinkMessage.capacity ? 0 : -90
  }

  /// Sends a message. Returns 0, or −errno: ENOTCONN, EMSGSIZE or EAGAIN.
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

/// A loop's control of its connection. The type is not copyable: one loop owns it, the same loop that owns the port.
public struct LinkControl: ~Copyable {
  private let end: UnsafeMutablePointer<LinkLoopEnd>

  init(end: UnsafeMutablePointer<LinkLoopEnd>) { self.end = end }

  /// Returns the connection's next event, or `nil` if all of them were taken. Take all events at the start of a tick, before the port's messages.
  @_noLocks @_noAllocation
  public mutating func takeEvent() -> LinkEvent? {
    guard let tape = TickTape.current else { return end.pointee.takeEvent() }
    var number: UInt8 = 0
    if !tape.isReplaying, let event = end.pointee.takeEvent() {
      switch event {
      case .up: number = 1
      case .down: number = 2
      }
    }
    tape.gets(.linkEvent, &number, 1)
    return number == 1 ? .up : number == 2 ? .down : nil
  }

  /// Requests a connection, if the driver can connect. Has no effect while there is a connection or an attempt is in progress. A
  /// failed attempt is reported only by the absence of `up`, so request again.
  @_noLocks @_noAllocation
  public mutating func connect() { order(true) }

  /// Ends the connection or the attempt to connect.
  @_noLocks @_noAllocation
  public mutating func disconnect() { order(false) }

  @_noLocks @_noAllocation
  private mutating func order(_ connects: Bool) {
    if let tape = TickTape.current {
      var connects = connects
      tape.sends(.linkOrder, &connects, 1)
      if tape.isReplaying { return }
    }
    end.pointee.order(connects)
  }
}
