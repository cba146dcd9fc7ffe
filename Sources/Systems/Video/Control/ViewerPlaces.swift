import Tactus

/// Who is at the RTSP port: connections, and their sessions, which play or do not.
///
/// Only a session that plays takes one of the viewers' places. One that does not has until `patience` after its SETUP; there are at most as
/// many of them as viewers' places, and of connections without a session `spareConnections` more than viewers' places. Where there are
/// more, the peer that has most of them loses its oldest: a peer with many keeps no other out.
///
/// A value without a clock: the server asks it, and does what it says. `Peer` is whose address it is.
public struct ViewerPlaces<Peer: Hashable & Sendable>: Sendable {
  /// From SETUP to PLAY.
  public static var patience: Nanoseconds { .seconds(10) }
  public static var spareConnections: Int { 64 }

  /// May a session play?
  public enum Verdict: Sendable, Equatable {
    /// It has a place from now on. `isFirst` if it has never played.
    case welcome(isFirst: Bool)
    /// All places are taken by others that play.
    case full
    /// It has been ended.
    case gone
  }

  /// Who is to go, and is counted no more.
  public struct Leavers: Sendable, Equatable {
    public var sessions: [String] = []
    public var connections: [UInt] = []
  }

  private enum Phase: Sendable { case waiting, playing, paused }

  private struct Session: Sendable {
    let connection: UInt
    let peer: Peer
    /// When its phase began.
    var since: TickInstant
    var phase = Phase.waiting
  }

  private struct Connection: Sendable {
    let peer: Peer
    let since: TickInstant
  }

  private let limit: Int
  private var connections: [UInt: Connection] = [:]
  private var sessions: [String: Session] = [:]

  /// - Parameter limit: how many may play at a time.
  public init(limit: Int) { self.limit = limit }

  /// How many play.
  public var playing: Int { sessions.values.count { $0.phase == .playing } }
  public var isFull: Bool { playing >= limit }
  /// Whether somebody has to make room.
  public var isCrowded: Bool { sessions.count - playing > limit || connections.count > limit + Self.spareConnections }

  public mutating func connect(_ connection: UInt, of peer: Peer, at now: TickInstant) {
    connections[connection] = Connection(peer: peer, since: now)
  }

  /// The result is its sessions, which end with it.
  public mutating func disconnect(_ connection: UInt) -> [String] {
    connections[connection] = nil
    let ended = sessions.filter { $0.value.connection == connection }.map(\.key)
    for session in ended { sessions[session] = nil }
    return ended
  }

  /// SETUP.
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

  /// It has ended, for whatever reason.
  public mutating func end(_ session: String) { sessions[session] = nil }

  /// Those who have waited for too long, and those who must make room.
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

  /// Of the peer that has most of them the oldest, one after the other, until so many are left.
  private static func leavers<Key>(of all: [Key: (peer: Peer, since: TickInstant)], until most: Int) -> [Key] {
    guard all.count > most else { return [] }
    // The oldest last.
    var groups = Dictionary(grouping: all, by: \.value.peer).mapValues { group in
      group.sorted { $1.value.since < $0.value.since }
    }
    return (most..<all.count).map { _ in
      let fullest = groups.max { $0.value.count < $1.value.count }!.key
      return groups[fullest]!.removeLast().key
    }
  }
}
