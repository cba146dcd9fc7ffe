import Buses
import Tactus

/// The links to up to 32 legs: a UDP socket for each leg, in order, then links with only one peer each.
///
/// Not copyable, because only one loop owns the ports.
public struct LegPorts: ~Copyable {
  /// The largest number of links in addition to the sockets, for all legs together.
  public static var maximumLinks: Int {
    @_noLocks @_noAllocation get { 4 }
  }

  private let ports: UnsafeMutablePointer<LegPort>
  /// The number of sockets and links.
  public private(set) var count = 0
  /// The number of sockets, which is that of the legs.
  public private(set) var legs = 0

  public init() { ports = .allocate(capacity: LegLoop.maximumLegs + Self.maximumLinks) }

  deinit {
    ports.deinitialize(count: count)
    ports.deallocate()
  }

  func addMemory(to memory: inout LoopMemory) { memory.add(ports, count: count) }

  /// Adds the socket of the next leg. More than 32 sockets, or a socket after a link, are a programming error.
  public mutating func append(_ port: consuming DatagramPort) {
    precondition(legs < LegLoop.maximumLegs, "there are at most 32 legs")
    precondition(legs == count, "the sockets come first")
    (ports + count).initialize(to: LegPort(.datagrams, port, control: nil, leg: legs))
    legs += 1
    count += 1
  }

  /// Adds a link to a leg that has its socket already. More than `maximumLinks` are a programming error.
  ///
  /// - Parameter control: the connections of the link, or `nil` if the link has no notion of connections. The loss of a connection is a
  ///   fault of the leg, and a new connection disarms the leg.
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
