import Buses
import Tactus

/// The ways to up to sixteen legs: a UDP socket each, in the order of the legs, and beside them links with one other end.
///
/// Not copyable: it owns the ports as its one loop does.
public struct LegPorts: ~Copyable {
  /// Links beside the sockets, of all legs.
  public static var maximumLinks: Int {
    @_noLocks @_noAllocation get { 4 }
  }

  private let ports: UnsafeMutablePointer<LegPort>
  /// Sockets and links.
  public private(set) var count = 0
  /// Sockets: one for each leg.
  public private(set) var legs = 0

  public init() { ports = .allocate(capacity: LegLoop.maximumLegs + Self.maximumLinks) }

  deinit {
    ports.deinitialize(count: count)
    ports.deallocate()
  }

  /// The next leg's socket. More than sixteen, or one after a link, are our bug.
  public mutating func append(_ port: consuming DatagramPort) {
    precondition(legs < LegLoop.maximumLegs, "a chip has sixteen channels")
    precondition(legs == count, "the sockets come first")
    (ports + count).initialize(to: LegPort(.datagrams, port, control: nil, leg: legs))
    legs += 1
    count += 1
  }

  /// A link to a leg that has its socket already. More than `maximumLinks` are our bug.
  ///
  /// - Parameter control: of a link that knows connections: its loss is a fault of the leg, a new connection disarms it.
  public mutating func append(
    _ kind: LegLinkKind, _ port: consuming DatagramPort, control: consuming LinkControl? = nil, of leg: Int
  ) {
    precondition(leg >= 0 && leg < legs, "no such leg")
    precondition(count - legs < Self.maximumLinks, "too many links")
    (ports + count).initialize(to: LegPort(kind, port, control: control, leg: leg))
    count += 1
  }

  @_noLocks @_noAllocation
  func leg(_ index: Int) -> Int { ports[index].leg }

  @_noLocks @_noAllocation
  func status(_ index: Int) -> LegLinkStatus { ports[index].status }

  @_noLocks @_noAllocation
  func kind(_ index: Int) -> LegLinkKind { ports[index].kind }

  @_noLocks @_noAllocation
  mutating func begin(at now: TickInstant) {
    for index in 0..<count { ports[index].begin(at: now) }
  }

  @_noLocks @_noAllocation
  mutating func takeEvent(_ index: Int) -> LinkEvent? { ports[index].takeEvent() }

  @_noLocks @_noAllocation
  mutating func receive(_ index: Int, into batch: inout DatagramBatch) -> Bool {
    ports[index].receive(into: &batch)
  }

  @_noLocks @_noAllocation
  mutating func hear(_ index: Int, _ sender: Endpoint, at now: TickInstant) { ports[index].hear(sender, at: now) }

  @_noLocks @_noAllocation
  mutating func countMalformed(_ index: Int) { ports[index].countMalformed() }

  @_noLocks @_noAllocation
  mutating func report(_ index: Int, _ bytes: UnsafeRawBufferPointer, at now: TickInstant) -> Bool? {
    ports[index].report(bytes, at: now)
  }
}
