import Synchronization
import Tactus

/// A `MessageLink` whose other end is a simulated radio: anyone may connect, write and go, and every message is logged.
///
/// The loop's ends are those of any link. What the loop sends is in the log and nowhere else. Any thread; the loop's ends
/// allocate nothing.
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

  /// A link without a peer in reach. Keeps the last `logCapacity` messages, 1…, stamped by `clock`.
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

  /// As `MessageLink.input`.
  public var input: LoopInput { link.input }

  /// As `MessageLink.port`.
  public func port() -> DatagramPort {
    DatagramPort(context: state, descriptor: link.loopBell.descriptor, receive: receive, send: send)
  }

  /// As `MessageLink.control`.
  public func control() -> LinkControl { link.control() }

  /// Whether a peer is connected.
  public var isUp: Bool { peer.withLock { $0.driver.isUp } }

  /// Whether the peer is there and wants to be connected.
  public var isPeerThere: Bool {
    get { peer.withLock { $0.isThere } }
    set {
      peer.withLock {
        $0.isThere = newValue
        $0.settle()
      }
    }
  }

  /// Whether the peer is out of the radio's reach. A peer that is there connects again once this ends.
  public var isOutOfReach: Bool {
    get { peer.withLock { $0.isOutOfReach } }
    set {
      peer.withLock {
        $0.isOutOfReach = newValue
        $0.settle()
      }
    }
  }

  /// Why a message was not taken.
  public enum Refusal: Error, Sendable {
    /// There is no peer that could write.
    case notConnected
    /// Longer than `MessageLink.mostBytes`, or the loop has not taken those before.
    case notTaken
  }

  /// Writes a message as the connected peer.
  public func write(_ bytes: [UInt8]) throws(Refusal) {
    try peer.withLock { peer throws(Refusal) in
      guard peer.driver.isUp else { throw .notConnected }
      guard bytes.withUnsafeBytes({ peer.driver.deliver($0) }) else { throw .notTaken }
    }
  }

  /// Messages that the loop received or sent, from number `sequence` on, that are still in the log.
  public func transactions(since sequence: Int64 = 0) -> [ByteTransaction] { log.transactions(since: sequence) }

  /// How many there have been since the start: the number that the next one gets.
  public var transactionCount: Int64 { log.count }
}

/// What a port's context points to; only the loop touches it.
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

  /// 0, or −errno as of any link.
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
