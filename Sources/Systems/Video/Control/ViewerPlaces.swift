import Tactus

/// The connections to the RTSP port and their sessions, which are playing or not.
///
/// Only a session that plays takes one of the viewers' places. A session that does not play must begin within `patience` after its SETUP.
/// A connection without a session, which has shown no password if one is needed, must end a request every `patience`.
/// The number of such sessions is limited to that of viewers' places, and the number of connections without a session to
/// `spareConnections` more than that. If a limit is exceeded, the oldest of the peer with the most is ended, so that a peer with many
/// connections cannot keep others out.
///
/// The type has no clock and does no input or output: the server asks it and acts on the results. `Peer` identifies the owner of an
/// address.
public struct ViewerPlaces<Peer: Hashable & Sendable>: Sendable {
  /// The longest time from SETUP to PLAY, and between two requests of a connection without a session.
  public static var patience: Nanoseconds { .seconds(10) }
  public static var spareConnections: Int { 64 }

  /// The decision on a request to play.
  public enum Verdict: Sendable, Equatable {
    /// The session has a place from now on. `isFirst` is true if the session has never played before.
    case welcome(isFirst: Bool)
    /// All places are taken by other sessions that play.
    case full
    /// The session has already been ended.
    case gone
  }

  /// The sessions and connections that the server must end. They no longer count.
  public struct Leavers: Sendable, Equatable {
    public var sessions: [String] = []
    public var connections: [UInt] = []
  }

  private enum Phase: Sendable { case waiting, playing, paused }

  private struct Session: Sendable {
    let connection: UInt
    let peer: Peer
    /// The instant at which the current phase of the session began.
    var since: TickInstant
    var phase = Phase.waiting
  }

  private struct Connection: Sendable {
    let peer: Peer
    let since: TickInstant
    /// The instant at which the last whole request came.
    var heard: TickInstant
  }

  private let limit: Int
  private var connections: [UInt: Connection] = [:]
  private var sessions: [String: Session] = [:]

  /// Creates places for `limit` sessions, none of which is taken.
  ///
  /// - Parameter limit: the highest number of sessions that play at a time.
  public init(limit: Int) { self.limit = limit }

  /// The number of sessions that play.
  public var playing: Int { sessions.values.count { $0.phase == .playing } }
  public var isFull: Bool { playing >= limit }
  /// Whether sessions or connections exceed a limit, so that some must be ended.
  public var isCrowded: Bool { sessions.count - playing > limit || connections.count > limit + Self.spareConnections }

  public mutating func connect(_ connection: UInt, of peer: Peer, at now: TickInstant) {
    connections[connection] = Connection(peer: peer, since: now, heard: now)
  }

  /// Notes that a whole request has come.
  public mutating func hear(_ connection: UInt, at now: TickInstant) { connections[connection]?.heard = now }

  /// Removes and returns the connections without a session that have sent no whole request for too long. They may have
  /// sent nothing, or a request without an end.
  public mutating func takeSilent(at now: TickInstant) -> [UInt] {
    let busy = Set(sessions.values.map(\.connection))
    let silent = connections.filter { !busy.contains($0.key) && now - $0.value.heard >= Self.patience }.map(\.key)
    for connection in silent { connections[connection] = nil }
    return silent
  }

  /// Removes a connection and returns its sessions, which end with the connection.
  public mutating func disconnect(_ connection: UInt) -> [String] {
    connections[connection] = nil
    let ended = sessions.filter { $0.value.connection == connection }.map(\.key)
    for session in ended { sessions[session] = nil }
    return ended
  }

  /// Adds a session after its SETUP.
  public mutating func open(_ session: String, by connection: UInt, of peer: Peer, at now: TickInstant) {
    sessions[session] = Session(connection: connection, peer: peer, since: now)
  }

  public mutating func play(_ session: String, at now: TickInstant) -> Verdict {
    guard let phase = sessions[session]?.phase else { return .gone }
    guard phase != .playing else { return .welcome(isFirst: false) }
    guard !isFull else { return .full }
    sessions[session]!.phase = .playing
    sessions[session]!.since = now
    return .welcome(isFirst: phase == .waiting)
  }

  public mutating func pause(_ session: String, at now: TickInstant) {
    guard sessions[session]?.phase == .playing else { return }
    sessions[session]!.phase = .paused
    sessions[session]!.since = now
  }

  /// Removes a session that has ended for any reason.
  public mutating func end(_ session: String) { sessions[session] = nil }

  /// Removes and returns the sessions that have waited too long, and the sessions and connections that exceed a limit.
  public mutating func takeLeavers(at now: TickInstant) -> Leavers {
    var leavers = Leavers()
    let overdue = sessions.filter { $0.value.phase == .waiting && now - $0.value.since >= Self.patience }
    leavers.sessions = overdue.map(\.key)
    for session in leavers.sessions { sessions[session] = nil }
    let idle = sessions.filter { $0.value.phase != .playing }
    let crowding = Self.leavers(of: idle.mapValues { ($0.peer, $0.since) }, until: limit)
    for session in crowding { sessions[session] = nil }
    leavers.sessions += crowding
    let busy = Set(sessions.values.map(\.connection))
    let silent = connections.filter { !busy.contains($0.key) }.mapValues { ($0.peer, $0.since) }
    let most = max(0, limit + Self.spareConnections - (connections.count - silent.count))
    leavers.connections = Self.leavers(of: silent, until: most)
    for connection in leavers.connections { connections[connection] = nil }
    return leavers
  }

  /// Returns the keys to remove until `most` are left: repeatedly the oldest of the peer that has the most.
  private static func leavers<Key>(of all: [Key: (peer: Peer, since: TickInstant)], until most: Int) -> [Key] {
    guard all.count > most else { return [] }
    // The oldest session of each peer comes last.
    var groups = Dictionary(grouping: all, by: \.value.peer).mapValues { group in
      group.sorted { $1.value.since < $0.value.since }
    }
    return (most..<all.count).map { _ in
      let fullest = groups.max { $0.value.count < $1.value.count }!.key
      return groups[fullest]!.removeLast().key
    }
  }
}
