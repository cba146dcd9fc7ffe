import Synchronization
import Tactus

/// A datagram port behind a simulated bad network: arriving datagrams are lost, delayed, duplicated and reordered as configured.
///
/// Wraps a real or simulated port, which its owner must keep alive. The port belongs to one loop; `conditions`, `linkIsDown` and
/// the log may be used from any thread. Nothing is allocated after creation. A delayed datagram is delivered by the first tick
/// after its time; it does not release the loop. The same seed and the same calls give the same deliveries.
public final class ImpairedDatagrams: @unchecked Sendable {  // safe: shared parts are atomics, the rest is the loop's
  private let state: UnsafeMutablePointer<ImpairedDatagramsState>
  private let shared: UnsafeMutablePointer<ImpairedDatagramsShared>
  private let log: TransactionLog
  private let queue: DatagramQueue
  private let descriptor: Int32?

  /// Takes over a datagram port and puts a simulated network before it.
  ///
  /// - Parameters:
  ///   - port: the socket, which is taken over.
  ///   - seed: the seed of the random numbers that decide what happens to each datagram.
  ///   - capacity: the number of datagrams that may be in flight.
  ///   - datagramSize: the size in bytes to which longer datagrams are cut; they are delivered with their true length.
  ///   - logCapacity: the number of datagrams that are kept in the log, 1 or more.
  ///   - clock: the clock that stamps the transfers.
  ///   - stall: a stall that is served whenever the loop receives.
  public init(
    _ port: consuming DatagramPort, seed: UInt64 = 1, capacity: Int = 256, datagramSize: Int = 2048,
    logCapacity: Int = 4096, clock: RecordClock = .tick, stall: LaneStall.Served? = nil
  ) {
    descriptor = port.descriptor
    log = TransactionLog(of: ByteTransaction.self, capacity: logCapacity, clock: clock)
    queue = DatagramQueue(capacity: capacity, size: datagramSize)
    shared = .allocate(capacity: 1)
    shared.initialize(to: ImpairedDatagramsShared())
    state = .allocate(capacity: 1)
    state.initialize(
      to: ImpairedDatagramsState(
        port: port, batch: DatagramBatch(capacity: 64, size: datagramSize), queue: queue, shared: shared, log: log,
        stall: stall, random: SplitMix64(seed: seed)))
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
    shared.deinitialize(count: 1)
    shared.deallocate()
    queue.deallocate()
    log.deallocate()
  }

  /// Returns the port for the one loop that owns it.
  public func port() -> DatagramPort {
    DatagramPort(context: state, descriptor: descriptor, receive: receiveImpaired, send: sendImpaired)
  }

  /// The conditions of the network. A change takes effect with the next datagram that arrives; each value changes separately, not all together.
  public var conditions: SimulatedNetwork.Conditions {
    get { shared.pointee.network.conditions() }
    set { shared.pointee.network.set(newValue) }
  }

  /// Whether the link is down, so that no datagram arrives or leaves.
  public var linkIsDown: Bool {
    get { shared.pointee.linkIsDown.load(ordering: .relaxed) }
    set { shared.pointee.linkIsDown.store(newValue, ordering: .relaxed) }
  }

  /// Returns the datagrams that the loop received or sent, from number `sequence` on, as far as they are still in the log.
  public func transactions(since sequence: Int64 = 0) -> [ByteTransaction] { log.transactions(since: sequence) }

  /// The number of entries since the start, which is the number that the next entry gets.
  public var transactionCount: Int64 { log.count }
}

struct ImpairedDatagramsShared: ~Copyable {
  let network = SimulatedNetworkShared()
  let linkIsDown = Atomic<Bool>(false)
}

/// The state to which a port's context points. Only the loop uses it.
struct ImpairedDatagramsState: ~Copyable {
  var port: DatagramPort
  var batch: DatagramBatch
  var queue: DatagramQueue
  let shared: UnsafeMutablePointer<ImpairedDatagramsShared>
  let log: TransactionLog
  let stall: LaneStall.Served?
  var random: SplitMix64
  /// The latest arrival so far of a datagram that was not held back. Later ones do not arrive before it, since jitter alone does
  /// not change the order.
  var lastArrival = Int64.min

  @_noLocks @_noAllocation
  mutating func receive(into buffers: DatagramBuffers) -> Int {
    stall?.serve(at: buffers.at)
    let now = buffers.at.nanoseconds
    port.now = buffers.at
    // Takes one full batch off the socket: the loop calls again as long as it gets full batches.
    _ = port.receive(into: &batch)
    for index in 0..<batch.count { admit(index, at: now) }
    var count = 0
    while count < buffers.capacity, let arrival = queue.firstArrival, arrival <= now {
      let target = buffers.bytes + count * buffers.size
      let header = queue.pop(into: target, size: buffers.size)
      buffers.headers[count] = header
      let kept = header.length < buffers.size ? header.length : buffers.size
      log.append(.received, target, kept, result: header.length, at: now)
      count += 1
    }
    return count
  }

  /// Decides what happens to a datagram. Five random numbers are drawn for every datagram whatever happens to it, so that changing
  /// one rate does not change the effects of the others.
  @_noLocks @_noAllocation
  private mutating func admit(_ index: Int, at now: Int64) {
    let conditions = shared.pointee.network.conditions()
    let isLost = random.chance(perMille: conditions.lossPerMille)
    let isDuplicated = random.chance(perMille: conditions.duplicationPerMille)
    let isHeldBack = random.chance(perMille: conditions.reorderingPerMille)
    let jitters = (
      random.below(UInt64(conditions.jitter.count) &+ 1), random.below(UInt64(conditions.jitter.count) &+ 1)
    )
    guard !isLost, !shared.pointee.linkIsDown.load(ordering: .relaxed) else { return }
    let earliest = now &+ conditions.delay.count
    let hold = isHeldBack ? conditions.reorderHold.count : 0
    push(index, arrival: earliest &+ Int64(jitters.0) &+ hold, inOrder: !isHeldBack, at: now)
    if isDuplicated { push(index, arrival: earliest &+ Int64(jitters.1), inOrder: true, at: now) }
  }

  /// Puts a datagram into the queue. The datagram is lost if the queue is full.
  @_noLocks @_noAllocation
  private mutating func push(_ index: Int, arrival: Int64, inOrder: Bool, at now: Int64) {
    var arrival = arrival
    if inOrder {
      if arrival < lastArrival { arrival = lastArrival }
      lastArrival = arrival
    }
    // The arrival stamp is delayed like the datagram.
    var stamp = batch.arrivedAt(index)
    if let arrivedAt = stamp { stamp = arrivedAt + Nanoseconds(arrival &- now) }
    _ = queue.push(
      batch.stored(index), batch.length(index), from: batch.source(index), arrival: arrival, stamp: stamp)
  }

  @_noLocks @_noAllocation
  mutating func send(_ bytes: UnsafeRawPointer, _ count: Int, to endpoint: Endpoint, at now: Int64) -> Int {
    // A dead link reports nothing to the sender.
    if shared.pointee.linkIsDown.load(ordering: .relaxed) { return 0 }
    port.now = TickInstant(nanoseconds: now)
    let isSent = port.send(UnsafeRawBufferPointer(start: bytes, count: count), to: endpoint)
    let result = isSent ? count : -105  // ENOBUFS
    log.append(.sent, bytes, count, result: result, at: now)
    return isSent ? 0 : result
  }
}

@_noLocks @_noAllocation
private func receiveImpaired(_ context: UnsafeMutableRawPointer, _ buffers: UnsafeMutableRawPointer) -> Int {
  context.assumingMemoryBound(to: ImpairedDatagramsState.self).pointee
    .receive(into: buffers.assumingMemoryBound(to: DatagramBuffers.self).pointee)
}

@_noLocks @_noAllocation
private func sendImpaired(
  _ context: UnsafeMutableRawPointer, _ bytes: UnsafeRawPointer, _ endpoint: UnsafeRawPointer, _ count: Int,
  _ now: Int64
) -> Int {
  context.assumingMemoryBound(to: ImpairedDatagramsState.self).pointee
    .send(bytes, count, to: endpoint.assumingMemoryBound(to: Endpoint.self).pointee, at: now)
}
