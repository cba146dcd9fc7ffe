import Buses
import Tactus

/// The UDP sockets of up to sixteen legs, one each, in the order of the legs.
///
/// Not copyable: it owns the ports as its one loop does.
public struct LegPorts: ~Copyable {
  private let ports: UnsafeMutablePointer<DatagramPort>
  public private(set) var count = 0

  public init() { ports = .allocate(capacity: LegLoop.maximumLegs) }

  deinit {
    ports.deinitialize(count: count)
    ports.deallocate()
  }

  /// The next leg's. More than sixteen are our bug.
  public mutating func append(_ port: consuming DatagramPort) {
    precondition(count < LegLoop.maximumLegs, "a chip has sixteen channels")
    (ports + count).initialize(to: port)
    count += 1
  }

  @_noLocks @_noAllocation
  mutating func begin(at now: TickInstant) {
    for index in 0..<count { ports[index].now = now }
  }

  @_noLocks @_noAllocation
  mutating func receive(_ index: Int, into batch: inout DatagramBatch) -> Bool {
    ports[index].receive(into: &batch)
  }

  @_noLocks @_noAllocation
  mutating func send(_ bytes: UnsafeRawBufferPointer, from index: Int, to endpoint: Endpoint) -> Bool {
    ports[index].send(bytes, to: endpoint)
  }
}
