import Synchronization
import Tactus

/// Endpoints in one process that exchange datagrams in simulated time, over links as bad as wanted.
///
/// Ports and inputs are for the one thread that runs the simulation; `conditions` and `statistics` for any thread. Must
/// outlive its ports. Allocates nothing after creation. The same seed and the same calls give the same deliveries.
public final class SimulatedNetwork: @unchecked Sendable {  // safe: shared parts are atomics
  /// What happens to a datagram on its way.
  public struct Conditions: Sendable, Hashable, BitwiseCopyable {
    /// From send to arrival.
    public var delay = Nanoseconds(0)
    /// Added to `delay`, uniform in 0…jitter; alone it never changes the order.
    public var jitter = Nanoseconds(0)
    /// Of 1,000 datagrams so many never arrive.
    public var lossPerMille = 0
    /// Of 1,000 datagrams so many arrive twice; each copy has its own jitter.
    public var duplicationPerMille = 0
    /// Of 1,000 datagrams so many are held back by `reorderHold`, so that later ones overtake them.
    public var reorderingPerMille = 0
    /// The default is 20 ms.
    public var reorderHold = Nanoseconds(20_000_000)

    /// A perfect network: at once, in order, everything once.
    @_noLocks @_noAllocation
    public init() {}
  }

  /// Datagrams since the start: `sent + duplicated = delivered + lost + overflowed + unreachable + in flight`.
  public struct Statistics: Sendable, Hashable {
    /// Sent by an endpoint.
    public var sent: Int64
    /// Taken by the loop that they were sent to.
    public var delivered: Int64
    /// Second copies that the network made.
    public var duplicated: Int64
    /// Dropped by the network.
    public var lost: Int64
    /// Dropped because the receiver's queue was full.
    public var overflowed: Int64
    /// Sent to an address that is not an endpoint of this network.
    public var unreachable: Int64
  }

  /// The simulation's.
  private let state: UnsafeMutablePointer<SimulatedNetworkState>
  /// Any thread's: never reached through `state`, which a send may be changing.
  private let shared: UnsafeMutablePointer<SimulatedNetworkShared>
  private let nodes: UnsafeMutablePointer<SimulatedNetworkNode>
  private let inputs: [SimulatedInput]
  private let endpoints: [Endpoint]

  /// `capacity` datagrams of at most `datagramSize` bytes may wait or be in flight at each endpoint; a longer datagram is
  /// delivered cut, with its true length.
  public init(
    _ endpoints: [Endpoint], conditions: Conditions = Conditions(), seed: UInt64 = 1, capacity: Int = 256,
    datagramSize: Int = 2048
  ) {
    precondition(!endpoints.isEmpty && Set(endpoints).count == endpoints.count, "endpoints must differ")
    precondition(capacity > 0 && datagramSize > 0)
    self.endpoints = endpoints
    let inputs = endpoints.map { _ in SimulatedInput() }
    let nodes = UnsafeMutablePointer<SimulatedNetworkNode>.allocate(capacity: endpoints.count)
    shared = .allocate(capacity: 1)
    shared.initialize(to: SimulatedNetworkShared())
    state = .allocate(capacity: 1)
    state.initialize(
      to: SimulatedNetworkState(shared: shared, nodes: nodes, nodeCount: endpoints.count, seed: seed))
    for (index, endpoint) in endpoints.enumerated() {
      let queue = DatagramQueue(capacity: capacity, size: datagramSize)
      (nodes + index).initialize(
        to: SimulatedNetworkNode(network: state, endpoint: endpoint, queue: queue, readyAt: inputs[index].readyAt))
    }
    self.nodes = nodes
    self.inputs = inputs
    self.conditions = conditions
  }

  deinit {
    for index in endpoints.indices { nodes[index].queue.deallocate() }
    nodes.deallocate()
    state.deinitialize(count: 1)
    state.deallocate()
    shared.deinitialize(count: 1)
    shared.deallocate()
  }

  /// The socket of one endpoint. An endpoint that was not given at creation is our bug.
  public func port(_ endpoint: Endpoint) -> DatagramPort {
    DatagramPort(
      context: nodes + index(of: endpoint), descriptor: nil, receive: receiveFromSimulatedNetwork,
      send: sendToSimulatedNetwork)
  }

  /// What releases the loop that owns the endpoint's port.
  public func input(_ endpoint: Endpoint) -> SimulatedInput { inputs[index(of: endpoint)] }

  private func index(of endpoint: Endpoint) -> Int {
    guard let index = endpoints.firstIndex(of: endpoint) else {
      preconditionFailure("\(endpoint) is not an endpoint of this network")
    }
    return index
  }

  /// Takes effect with the next datagram sent; each figure at once, not all of them together.
  public var conditions: Conditions {
    get { shared.pointee.conditions() }
    set { shared.pointee.set(newValue) }
  }

  /// What became of every datagram so far.
  public var statistics: Statistics {
    Statistics(
      sent: shared.pointee.sent.load(ordering: .relaxed), delivered: shared.pointee.delivered.load(ordering: .relaxed),
      duplicated: shared.pointee.duplicated.load(ordering: .relaxed),
      lost: shared.pointee.lost.load(ordering: .relaxed),
      overflowed: shared.pointee.overflowed.load(ordering: .relaxed),
      unreachable: shared.pointee.unreachable.load(ordering: .relaxed))
  }
}
