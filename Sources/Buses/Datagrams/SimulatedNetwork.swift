import Synchronization
import Tactus

/// Endpoints in one process that exchange datagrams in simulated time, over links as bad as configured.
///
/// Ports and inputs are for the one thread that runs the simulation; `conditions` and `statistics` may be used from any thread. The
/// network must outlive its ports. Nothing is allocated after creation. The same seed and the same calls give the same deliveries.
public final class SimulatedNetwork: @unchecked Sendable {  // safe: shared parts are atomics
  /// The conditions under which datagrams travel.
  public struct Conditions: Sendable, Hashable, BitwiseCopyable {
    /// The time from sending to arrival.
    public var delay = Nanoseconds(0)
    /// A random time added to `delay`, uniform in 0…jitter. Jitter alone never changes the order.
    public var jitter = Nanoseconds(0)
    /// The number of datagrams in 1,000 that never arrive.
    public var lossPerMille = 0
    /// The number of datagrams in 1,000 that arrive twice. Each copy has its own jitter.
    public var duplicationPerMille = 0
    /// The number of datagrams in 1,000 that are held back by `reorderHold`, so that later ones overtake them.
    public var reorderingPerMille = 0
    /// The time by which a datagram is held back, 20 ms by default.
    public var reorderHold = Nanoseconds(20_000_000)

    /// Creates a perfect network, which delivers every datagram immediately, in order and once.
    @_noLocks @_noAllocation
    public init() {}
  }

  /// Counts of datagrams since the start: `sent + duplicated = delivered + lost + overflowed + unreachable + in flight`.
  public struct Statistics: Sendable, Hashable {
    /// The number of datagrams sent by endpoints.
    public var sent: Int64
    /// The number of datagrams taken by the loop to which they were sent.
    public var delivered: Int64
    /// The number of second copies that the network made.
    public var duplicated: Int64
    /// The number of datagrams dropped by the network.
    public var lost: Int64
    /// The number of datagrams dropped because the receiver's queue was full.
    public var overflowed: Int64
    /// The number of datagrams sent to an address that is not an endpoint of this network.
    public var unreachable: Int64
  }

  /// The state that only the simulation's thread uses.
  private let state: UnsafeMutablePointer<SimulatedNetworkState>
  /// The state that any thread may use. It is never reached through `state`, which a send may be changing.
  private let shared: UnsafeMutablePointer<SimulatedNetworkShared>
  private let nodes: UnsafeMutablePointer<SimulatedNetworkNode>
  private let inputs: [SimulatedInput]
  private let endpoints: [Endpoint]

  /// Creates a network in which `capacity` datagrams of at most `datagramSize` bytes may wait or be in flight at each endpoint. A
  /// longer datagram is cut and delivered with its true length.
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

  /// Returns the socket of one endpoint. Traps if the endpoint was not given at creation.
  public func port(_ endpoint: Endpoint) -> DatagramPort {
    DatagramPort(
      context: nodes + index(of: endpoint), descriptor: nil, receive: receiveFromSimulatedNetwork,
      send: sendToSimulatedNetwork)
  }

  /// Returns the input that releases the loop that owns the endpoint's port.
  public func input(_ endpoint: Endpoint) -> SimulatedInput { inputs[index(of: endpoint)] }

  private func index(of endpoint: Endpoint) -> Int {
    guard let index = endpoints.firstIndex(of: endpoint) else {
      preconditionFailure("\(endpoint) is not an endpoint of this network")
    }
    return index
  }

  /// The conditions of the network. A change takes effect with the next datagram that is sent; each value changes separately, not all together.
  public var conditions: Conditions {
    get { shared.pointee.conditions() }
    set { shared.pointee.set(newValue) }
  }

  /// The counts of all datagrams so far.
  public var statistics: Statistics {
    Statistics(
      sent: shared.pointee.sent.load(ordering: .relaxed), delivered: shared.pointee.delivered.load(ordering: .relaxed),
      duplicated: shared.pointee.duplicated.load(ordering: .relaxed),
      lost: shared.pointee.lost.load(ordering: .relaxed),
      overflowed: shared.pointee.overflowed.load(ordering: .relaxed),
      unreachable: shared.pointee.unreachable.load(ordering: .relaxed))
  }
}
