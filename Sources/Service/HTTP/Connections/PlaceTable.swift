import NIOCore
import Peers
import Tactus

/// Which connections are let in, and which are closed to make room. Decides and does nothing else; `ConnectionPlaces` carries out.
///
/// A connection is a stranger until a request has shown a valid token, and again when one shows a token that is refused.
/// Strangers have few places apart, so that however many come, none takes the place of a connection with a token:
///
///     enter ──▶ stranger ──token──▶ reader, controller        a place in each of strangers' two pools, or in that of the known
///                  ▲────────401──────────┘
struct PlaceTable<ID: Hashable & Sendable>: Sendable {
  enum Entry: Equatable {
    /// Let in, after these connections have been closed.
    case welcome(closing: [ID])
    /// No stranger may be closed now.
    case full
  }

  private struct Stranger {
    let network: PeerNetwork
    /// Until then it is not closed to make room for another.
    var safeUntil: NIODeadline
    /// It came while descriptors ran out.
    let isScarce: Bool
  }

  private struct Known {
    let network: PeerNetwork
    var mayStop: Bool
    let isScarce: Bool
  }

  private let limits: ConnectionLimits
  private var strangers: [ID: Stranger] = [:]
  private var known: [ID: Known] = [:]
  /// Strangers that have been asked to close to make room, and have not closed yet.
  private var leaving: [ID: Stranger] = [:]

  init(_ limits: ConnectionLimits) { self.limits = limits }

  func isKnown(_ id: ID) -> Bool { known[id] != nil }

  /// Returns whether the connection has been asked to close to make room for another, and has not closed yet.
  func isLeaving(_ id: ID) -> Bool { leaving[id] != nil }

  /// Returns whether the connection came while descriptors ran out: it is for one request.
  func isScarce(_ id: ID) -> Bool { (strangers[id] ?? leaving[id])?.isScarce ?? known[id]?.isScarce ?? false }

  /// A connection was accepted.
  ///
  /// - Parameter isScarce: whether descriptors run out: there are few places for strangers then, and of connections with a token only
  ///   those that may stop come in.
  mutating func enter(_ id: ID, from network: PeerNetwork, isScarce: Bool, at now: NIODeadline) -> Entry {
    var (pool, own, scarce) = (Crowd(), Crowd(), Crowd())
    for (id, stranger) in strangers where isScarce || stranger.network.isLoopback == network.isLoopback {
      pool.add(id, stranger.safeUntil, at: now)
      if stranger.network == network { own.add(id, stranger.safeUntil, at: now) }
      if stranger.isScarce { scarce.add(id, stranger.safeUntil, at: now) }
    }
    let places = limits.strangers
    let ofOne = network.isLoopback ? places : limits.strangersOfOneNetwork
    var closing: [ID] = []
    if own.count >= ofOne || pool.count >= places || scarce.count >= limits.strangersInScarcity {
      guard let oldest = (own.count >= ofOne ? own : pool).oldest else { return .full }
      closing = [oldest.id]
      leaving[oldest.id] = strangers.removeValue(forKey: oldest.id)
    }
    // Half of the places are promised for a time; the other half is taken in turn, and a head that is already
    // there is read before its turn is over.
    let isSafe = !isScarce && pool.safe < places / 2 && own.safe < ofOne / 2
    strangers[id] = Stranger(
      network: network, safeUntil: isSafe ? now + limits.strangerHeadTime : now, isScarce: isScarce)
    return .welcome(closing: closing)
  }

  /// A request's head has come; it is safe until its answer, for a while.
  ///
  /// A connection that was to be closed stays: its head was on its way already, and may be that of an emergency stop.
  mutating func headArrived(_ id: ID, at now: NIODeadline) {
    if let stranger = leaving.removeValue(forKey: id) { strangers[id] = stranger }
    strangers[id]?.safeUntil = now + limits.strangerHeadTime
  }

  /// A request is answered.
  mutating func answered(_ id: ID, at now: NIODeadline) { strangers[id]?.safeUntil = now }

  /// A request has identified its caller.
  ///
  /// - Returns: `false` if every place of the known is taken, or all that its network may have.
  mutating func recognise(_ id: ID, mayStop: Bool) -> Bool {
    if known[id] != nil {
      known[id]?.mayStop = mayStop
      return true
    }
    guard let stranger = strangers[id] else { return true }
    var (readers, ofNetwork) = (0, 0)
    for other in known.values {
      if !other.mayStop { readers += 1 }
      if other.network == stranger.network { ofNetwork += 1 }
    }
    guard known.count < limits.connections,
      stranger.network.isLoopback || ofNetwork < limits.connectionsOfOneNetwork,
      mayStop || !Mechanism.stopConnections.acts
        || readers < limits.connections - limits.placesForStopping && !stranger.isScarce
    else { return false }
    strangers[id] = nil
    known[id] = Known(network: stranger.network, mayStop: mayStop, isScarce: stranger.isScarce)
    return true
  }

  /// A request has shown a token that is not valid, or no longer.
  mutating func forget(_ id: ID, at now: NIODeadline) {
    guard let former = known.removeValue(forKey: id) else { return }
    strangers[id] = Stranger(network: former.network, safeUntil: now, isScarce: former.isScarce)
  }

  mutating func leave(_ id: ID) {
    leaving[id] = nil
    strangers[id] = nil
    known[id] = nil
  }

  /// A count of strangers: all, those that may not be closed, and which of the others came first.
  private struct Crowd {
    var count = 0
    var safe = 0
    var oldest: (id: ID, since: NIODeadline)?

    mutating func add(_ id: ID, _ safeUntil: NIODeadline, at now: NIODeadline) {
      count += 1
      if safeUntil > now {
        safe += 1
      } else if oldest.map({ safeUntil < $0.since }) ?? true {
        oldest = (id, safeUntil)
      }
    }
  }
}
