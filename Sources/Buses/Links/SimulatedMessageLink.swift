import Synchronization
import Tactus

/// A `MessageLink` to a simulated radio: a test or a client connects, writes and disconnects as a peer, and every message is logged.
///
/// The loop's ends are those of any link. Messages that the loop sends go to the log only. Any thread may use the link; the loop's
/// ends allocate nothing.
public final class SimulatedMessageLink: @unchecked Sendable {
  // Safe: the peer's end is behind a mutex, the log's entries are atomics, the rest is the loop's.

  private struct Peer: ~Copyable {
    var driver: LinkDriver
    var isThere = false
    var isOutOfReach = false

    mutating func settle() {
      let isConnected = isThere && !isOutOfReach
      guard isConnected != driver.isUp else { return }
      if isConnected { driver.up() } else { driver.down() }
    }
  }

  private let link: MessageLink
  private let peer: Mutex<Peer>
  private let state: UnsafeMutablePointer<SimulatedLinkState>
  private let log: TransactionLog

  /// Creates a link without a peer in reach. The log keeps the last `logCapacity` messages, 1 or more, stamped by `clock`.
  ///
  /// - Throws: `.system` when the process or the machine has no descriptor left.
  public init(logCapacity: Int = 4096, clock: RecordClock = .tick) throws(RuntimeError) {
    let link = try MessageLink()
    self.link = link
    peer = Mutex(Peer(driver: link.driver()))
    log = TransactionLog(of: ByteTransaction.self, capacity: logCapacity, clock: clock)
    state = .allocate(capacity: 1)
    state.initialize(to: SimulatedLinkState(end: link.loopEnd, log: log))
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
    log.deallocate()
  }

  /// The input that releases the loop, as `MessageLink.input` does.
  public var input: LoopInput { link.input }

  /// Returns the port for the one loop that owns it, as `MessageLink.port` does.
  public func port() -> DatagramPort {
    DatagramPort(context: state, descriptor: link.loopBell.descriptor, receive: receive, send: send)
  }

  /// Returns the control of the connection, as `MessageLink.control` does.
  public func control() -> LinkControl { link.control() }

  /// Whether a peer is connected.
  public var isUp: Bool { peer.withLock { $0.driver.isUp } }

  /// Whether the peer exists and requests a connection.
  public var isPeerThere: Bool {
    get { peer.withLock { $0.isThere } }
    set {
      peer.withLock {
        $0.isThere = newValue
        $0.settle()
      }
    }
  }

  /// Whether the peer is out of the radio's reach. A peer that exists connects again when it is back in reach.
  public var isOutOfReach: Bool {
    get { peer.withLock { $0.isOutOfReach } }
    set {
      peer.withLock {
        $0.isOutOfReach = newValue
        $0.settle()
      }
    }
  }

  /// The reason why a message was refused.
  public enum Refusal: Error, Sendable {
    /// No peer is connected that could write.
    case notConnected
    /// The message is longer than `MessageLink.mostBytes`, or the loop has not taken earlier messages.
    case notTaken
  }

  /// Writes a message as the connected peer.
  public func write(_ bytes: [UInt8]) throws(Refusal) {
    try peer.withLock { peer throws(Refusal) in
      guard peer.driver.isUp else { throw .notConnected }
      guard bytes.withUnsafeBytes({ peer.driver.deliver($0) }) else { throw .notTaken }
    }
  }

  /// Returns the messages that the loop received or sent, from number `sequence` on, as far as they are still in the log.
  public func transactions(since sequence: Int64 = 0) -> [ByteTransaction] { log.transactions(since: sequence) }

  /// The number of entries since the start, which is the number that the next entry gets.
  public var transactionCount: Int64 { log.count }
}

/// The state to which a port's context points. Only the loop uses it.
private struct SimulatedLinkState {
  let end: UnsafeMutablePointer<LinkLoopEnd>
  let log: TransactionLog

  @_noLocks @_noAllocation
  func receive(into buffers: UnsafePointer<DatagramBuffers>) -> Int {
    let count = end.pointee.receive(into: buffers)
    let (size, bytes, headers) = (buffers.pointee.size, buffers.pointee.bytes, buffers.pointee.headers)
    for index in 0..<count {
      let length = headers[index].length
      log.append(
        .received, bytes + index &* size, length < size ? length : size, result: length,
        at: buffers.pointee.at.nanoseconds)
    }
    return count
  }

  /// Sends a message. Returns 0, or −errno as for any link.
  @_noLocks @_noAllocation
  func send(_ bytes: UnsafeRawPointer, _ count: Int, at now: Int64) -> Int {
    let result = end.pointee.admits(count)
    log.append(.sent, bytes, count, result: result < 0 ? result : count, at: now)
    return result
  }
}

@_noLocks @_noAllocation
private func receive(_ context: UnsafeMutableRawPointer, _ buffers: UnsafeMutableRawPointer) -> Int {
  context.assumingMemoryBound(to: SimulatedLinkState.self).pointee
    .receive(into: buffers.assumingMemoryBound(to: DatagramBuffers.self))
}

@_noLocks @_noAllocation
private func send(
  _ context: UnsafeMutableRawPointer, _ bytes: UnsafeRawPointer, _ endpoint: UnsafeRawPointer, _ count: Int,
  _ now: Int64
) -> Int {
  context.assumingMemoryBound(to: SimulatedLinkState.self).pointee.send(bytes, count, at: now)
}
