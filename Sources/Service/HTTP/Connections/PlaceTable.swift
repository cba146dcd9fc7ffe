import NIOCore
import Peers
import Tactus

/// Decides which connections are admitted and which are closed to make room; `ConnectionPlaces` carries out the decisions.
///
/// A connection is unidentified until a request has shown a valid token, and again after a request has shown a token
/// that is refused. Unidentified connections (`strangers`) have a small pool of places apart, so that they never take the
/// place of a connection with a token, however many of them there are:
///
///     enter ──▶ stranger ──token──▶ reader, controller        a place in one of the two pools of strangers, or in that of the known
///                  ▲────────401──────────┘
struct PlaceTable<ID: Hashable & Sendable>: Sendable {
  enum Entry: Equatable {
    /// The connection is admitted; `closing` are the connections to be closed first.
    case welcome(closing: [ID])
    /// The connection is refused, because no unidentified connection may be closed now.
    case full
  }

  private struct Stranger {
    let network: PeerNetwork
    /// The instant until which the connection is not closed to make room for another.
    var safeUntil: NIODeadline
    /// Whether the connection was accepted while descriptors were running out.
    let isScarce: Bool
  }

  private struct Known {
    let network: PeerNetwork
    /// The owner of the connection: the token's public identifier, or the address if no token is needed.
    var owner: String
    var mayStop: Bool
    let isScarce: Bool
    /// The instant at which the connection's last request was admitted.
    var admitted: NIODeadline
  }

  /// Whether a connection whose caller is known has a place.
  enum Recognition: Equatable {
    /// The connection has a place; `closing` is the connection to be closed for it.
    case welcome(closing: ID?)
    case full
  }

  private let limits: ConnectionLimits
  private var strangers: [ID: Stranger] = [:]
  private var known: [ID: Known] = [:]
  /// The unidentified connections that have been asked to close to make room and have not closed yet.
  private var leaving: [ID: Stranger] = [:]

  init(_ limits: ConnectionLimits) { self.limits = limits }

  func isKnown(_ id: ID) -> Bool { known[id] != nil }

  /// Returns whether the connection has been asked to close to make room for another and has not closed yet.
  func isLeaving(_ id: ID) -> Bool { leaving[id] != nil }

  /// Returns whether the connection was accepted while descriptors were running out. Such a connection serves one request only.
  func isScarce(_ id: ID) -> Bool { (strangers[id] ?? leaving[id])?.isScarce ?? known[id]?.isScarce ?? false }

  /// Returns whether a new connection is admitted, and which connections are to be closed first.
  ///
  /// - Parameter isScarce: whether descriptors are running out. In that case unidentified connections have few places, and only
  ///   callers whose token allows them to stop are admitted.
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

  /// Notes that a request's head has arrived, which protects the connection for a time until the request is answered.
  ///
  /// A connection that was asked to close stays: the head was on its way already, and may be that of an emergency stop.
  mutating func headArrived(_ id: ID, at now: NIODeadline) {
    if let stranger = leaving.removeValue(forKey: id) { strangers[id] = stranger }
    strangers[id]?.safeUntil = now + limits.strangerHeadTime
  }

  /// Notes that a request is answered.
  mutating func answered(_ id: ID, at now: NIODeadline) { strangers[id]?.safeUntil = now }

  /// Moves a connection whose request has identified its caller to the known connections.
  ///
  /// If every place for known connections is taken, or all those that the network may have, a request that stops something takes the place of
  /// another: of those of the owner that has the most, the one that has asked for nothing for the longest time. Nobody who has more than others
  /// keeps them from stopping, however many connections a token opens.
  ///
  /// - Parameters:
  ///   - owner: the owner of the connection: the token's public identifier, or the address if no token is needed.
  ///   - mayStop: whether the caller's token allows commands.
  ///   - stops: whether the request can only make a system safer.
  mutating func recognise(
    _ id: ID, of owner: String, mayStop: Bool, stops: Bool = false, at now: NIODeadline
  ) -> Recognition {
    if known[id] != nil {
      known[id]?.owner = owner
      known[id]?.mayStop = mayStop
      known[id]?.admitted = now
      return .welcome(closing: nil)
    }
    guard let stranger = strangers[id] else { return .welcome(closing: nil) }
    var (readers, ofNetwork) = (0, 0)
    for other in known.values {
      if !other.mayStop { readers += 1 }
      if other.network == stranger.network { ofNetwork += 1 }
    }
    guard
      mayStop || !Mechanism.stopConnections.acts
        || readers < limits.connections - limits.placesForStopping && !stranger.isScarce
    else { return .full }
    let isOwnShareFull = !stranger.network.isLoopback && ofNetwork >= limits.connectionsOfOneNetwork
    var closing: ID?
    if isOwnShareFull || known.count >= limits.connections {
      guard stops, Mechanism.stopConnections.acts else { return .full }
      closing = leastNeeded(for: owner, of: isOwnShareFull ? stranger.network : nil)
      guard let closing else { return .full }
      known[closing] = nil
    }
    strangers[id] = nil
    known[id] = Known(
      network: stranger.network, owner: owner, mayStop: mayStop, isScarce: stranger.isScarce, admitted: now)
    return .welcome(closing: closing)
  }

  /// Returns the connection whose place another one of `owner` may take, or `nil` if no other owner has more and the owner has none.
  ///
  /// - Parameter network: the network whose connections are considered, or `nil` for all.
  private func leastNeeded(for owner: String, of network: PeerNetwork?) -> ID? {
    let candidates = known.filter { network == nil || $0.value.network == network }
    let counts = candidates.values.reduce(into: [String: Int]()) { $0[$1.owner, default: 0] += 1 }
    // The name decides between two with as many, so that the choice does not depend on the order of a dictionary.
    guard let most = counts.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }),
      most.key == owner || most.value > counts[owner] ?? 0
    else { return candidates.filter { $0.value.owner == owner }.min { $0.value.admitted < $1.value.admitted }?.key }
    return candidates.filter { $0.value.owner == most.key }.min { $0.value.admitted < $1.value.admitted }?.key
  }

  /// Makes a known connection unidentified again, because a request has shown a token that is invalid or has become invalid.
  mutating func forget(_ id: ID, at now: NIODeadline) {
    guard let former = known.removeValue(forKey: id) else { return }
    strangers[id] = Stranger(network: former.network, safeUntil: now, isScarce: former.isScarce)
  }

  mutating func leave(_ id: ID) {
    leaving[id] = nil
    strangers[id] = nil
    known[id] = nil
  }

  /// A group of unidentified connections: their number, the number that may not be closed, and the oldest of the others.
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
