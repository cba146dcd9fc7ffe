import Synchronization
import Tactus

/// One endpoint, to which a port's context points.
struct SimulatedNetworkNode: BitwiseCopyable {
  let network: UnsafeMutablePointer<SimulatedNetworkState>
  let endpoint: Endpoint
  var queue: DatagramQueue
  let readyAt: UnsafeMutablePointer<TickInstant>
  /// The latest arrival so far of a datagram that was not held back. Later ones do not arrive before it, since jitter alone does
  /// not change the order.
  var lastArrival = Int64.min
}

/// The part of a network that any thread sets and reads.
struct SimulatedNetworkShared: ~Copyable {
  let delay = Atomic<Int64>(0), jitter = Atomic<Int64>(0), reorderHold = Atomic<Int64>(0)
  let loss = Atomic<Int>(0), duplication = Atomic<Int>(0), reordering = Atomic<Int>(0)

  let sent = Atomic<Int64>(0), delivered = Atomic<Int64>(0), duplicated = Atomic<Int64>(0), lost = Atomic<Int64>(0)
  let overflowed = Atomic<Int64>(0), unreachable = Atomic<Int64>(0)

  @_noLocks @_noAllocation
  borrowing func conditions() -> SimulatedNetwork.Conditions {
    var conditions = SimulatedNetwork.Conditions()
    conditions.delay.count = delay.load(ordering: .relaxed)
    conditions.jitter.count = jitter.load(ordering: .relaxed)
    conditions.lossPerMille = loss.load(ordering: .relaxed)
    conditions.duplicationPerMille = duplication.load(ordering: .relaxed)
    conditions.reorderingPerMille = reordering.load(ordering: .relaxed)
    conditions.reorderHold.count = reorderHold.load(ordering: .relaxed)
    return conditions
  }

  borrowing func set(_ conditions: SimulatedNetwork.Conditions) {
    for rate in [conditions.lossPerMille, conditions.duplicationPerMille, conditions.reorderingPerMille] {
      precondition((0...1000).contains(rate))
    }
    precondition(conditions.delay >= .zero && conditions.jitter >= .zero && conditions.reorderHold >= .zero)
    delay.store(conditions.delay.count, ordering: .relaxed)
    jitter.store(conditions.jitter.count, ordering: .relaxed)
    loss.store(conditions.lossPerMille, ordering: .relaxed)
    duplication.store(conditions.duplicationPerMille, ordering: .relaxed)
    reordering.store(conditions.reorderingPerMille, ordering: .relaxed)
    reorderHold.store(conditions.reorderHold.count, ordering: .relaxed)
  }
}

/// The network behind all endpoints, which only the simulation's thread uses.
struct SimulatedNetworkState: ~Copyable {
  let shared: UnsafeMutablePointer<SimulatedNetworkShared>
  let nodes: UnsafeMutablePointer<SimulatedNetworkNode>
  let nodeCount: Int
  var random: SplitMix64

  init(
    shared: UnsafeMutablePointer<SimulatedNetworkShared>, nodes: UnsafeMutablePointer<SimulatedNetworkNode>,
    nodeCount: Int, seed: UInt64
  ) {
    self.shared = shared
    self.nodes = nodes
    self.nodeCount = nodeCount
    random = SplitMix64(seed: seed)
  }

  /// Sends a datagram. Five random numbers are drawn for every datagram whatever happens to it, so that changing one rate does not
  /// change the effects of the others.
  @_noLocks @_noAllocation
  mutating func send(
    _ bytes: UnsafeRawPointer, _ count: Int, from source: Endpoint, to target: Endpoint, at now: Int64
  ) {
    let conditions = shared.pointee.conditions()
    let isLost = random.chance(perMille: conditions.lossPerMille)
    let isDuplicated = random.chance(perMille: conditions.duplicationPerMille)
    let isHeldBack = random.chance(perMille: conditions.reorderingPerMille)
    let jitters = (
      random.below(UInt64(conditions.jitter.count) &+ 1), random.below(UInt64(conditions.jitter.count) &+ 1)
    )
    count1(shared.pointee.sent)
    guard let node = node(target) else { return count1(shared.pointee.unreachable) }
    if isLost { return count1(shared.pointee.lost) }

    let earliest = now &+ conditions.delay.count
    let hold = isHeldBack ? conditions.reorderHold.count : 0
    deliver(bytes, count, from: source, to: node, at: earliest &+ Int64(jitters.0) &+ hold, inOrder: !isHeldBack)
    guard isDuplicated else { return }
    count1(shared.pointee.duplicated)
    deliver(bytes, count, from: source, to: node, at: earliest &+ Int64(jitters.1), inOrder: true)
  }

  @_noLocks @_noAllocation
  private func deliver(
    _ bytes: UnsafeRawPointer, _ count: Int, from source: Endpoint, to node: UnsafeMutablePointer<SimulatedNetworkNode>,
    at arrival: Int64, inOrder: Bool
  ) {
    var arrival = arrival
    if inOrder {
      if arrival < node.pointee.lastArrival { arrival = node.pointee.lastArrival }
      node.pointee.lastArrival = arrival
    }
    let stamp = TickInstant(nanoseconds: arrival)
    guard node.pointee.queue.push(bytes, count, from: source, arrival: arrival, stamp: stamp) else {
      return count1(shared.pointee.overflowed)
    }
    if arrival < node.pointee.readyAt.pointee.nanoseconds { node.pointee.readyAt.pointee.nanoseconds = arrival }
  }

  @_noLocks @_noAllocation
  func receive(_ node: UnsafeMutablePointer<SimulatedNetworkNode>, into buffers: DatagramBuffers) -> Int {
    var count = 0
    while count < buffers.capacity, let arrival = node.pointee.queue.firstArrival, arrival <= buffers.at.nanoseconds {
      buffers.headers[count] = node.pointee.queue.pop(into: buffers.bytes + count * buffers.size, size: buffers.size)
      count1(shared.pointee.delivered)
      count += 1
    }
    node.pointee.readyAt.pointee.nanoseconds = node.pointee.queue.firstArrival ?? .max
    return count
  }

  @_noLocks @_noAllocation
  private func node(_ endpoint: Endpoint) -> UnsafeMutablePointer<SimulatedNetworkNode>? {
    for index in 0..<nodeCount {
      if nodes[index].endpoint.isSame(as: endpoint) { return nodes + index }
    }
    return nil
  }

  /// Increments a counter. There is one writer, so no read-modify-write operation is needed.
  @_noLocks @_noAllocation
  private func count1(_ counter: borrowing Atomic<Int64>) {
    counter.store(counter.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
  }
}

@_noLocks @_noAllocation
func receiveFromSimulatedNetwork(_ context: UnsafeMutableRawPointer, _ buffers: UnsafeMutableRawPointer) -> Int {
  let node = context.assumingMemoryBound(to: SimulatedNetworkNode.self)
  return node.pointee.network.pointee
    .receive(node, into: buffers.assumingMemoryBound(to: DatagramBuffers.self).pointee)
}

@_noLocks @_noAllocation
func sendToSimulatedNetwork(
  _ context: UnsafeMutableRawPointer, _ bytes: UnsafeRawPointer, _ endpoint: UnsafeRawPointer, _ count: Int,
  _ now: Int64
) -> Int {
  let node = context.assumingMemoryBound(to: SimulatedNetworkNode.self)
  let target = endpoint.assumingMemoryBound(to: Endpoint.self).pointee
  node.pointee.network.pointee.send(bytes, count, from: node.pointee.endpoint, to: target, at: now)
  return 0
}
