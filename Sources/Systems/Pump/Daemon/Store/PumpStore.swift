import GRDB
import Pump
import Service
import Store
import Tactus
import WallTime

/// The cooling pump's stored data: its sessions, its values by the minute, and the used part of its run limit. Blocks like `StoreFile`.
public struct PumpStore: Sendable {
  let file: StoreFile

  public init(_ file: StoreFile) { self.file = file }

  /// Returns the used part of the run limit that was stored last, or `nil` if none was stored.
  public func limit() throws(StoreError) -> PumpLimit? {
    try file.read("reading the pump's limit") { database in
      try Row.fetchOne(database, sql: "SELECT * FROM pump_limit WHERE id = 1").map { row in
        let boot: String? = row["boot"]
        return PumpLimit(
          boot: boot.map { BootID($0) }, isPumping: row["is_pumping"], since: TickInstant(nanoseconds: row["since"]),
          before: Nanoseconds(row["before"]))
      }
    }
  }

  /// Stores the used part of the run limit; it is on the disk when the call returns.
  public func keep(_ limit: PumpLimit) throws(StoreError) {
    try file.write("keeping the pump's limit", by: .byMachine) { database in
      try SealedRow.write(
        [
          1, (limit.boot?.description).databaseValue, limit.isPumping, limit.since.nanoseconds, limit.before.count,
        ], to: "pump_limit", in: database)
    }
  }

  /// Stores a session; it is on the disk when the call returns. A session with the number 0 is new and gets the next number.
  ///
  /// - Returns: the session's number.
  @discardableResult
  public func keep(_ session: PumpSession) throws(StoreError) -> Int64 {
    try file.write("keeping a session of the pump", by: .byMachine) { database in
      var session = session
      if session.number == 0 {
        session.number = try Int64.fetchOne(database, sql: "SELECT ifnull(max(number), 0) + 1 FROM pump_session") ?? 1
      }
      try SealedRow.write(Self.columns(session), to: "pump_session", in: database)
      return session.number
    }
  }

  /// Stores what a person has written about a session; `nil` removes it. It is on the disk when the call returns.
  ///
  /// - Returns: the session with its note, or `nil` if there is no session of this number.
  func keep(note: String?, of number: Int64) throws(StoreError) -> PumpSession? {
    try file.write("keeping a note on a session of the pump", by: .byPeople) { database in
      guard let row = try Row.fetchOne(database, sql: "\(Self.select) WHERE number = ?", arguments: [number]) else {
        return nil
      }
      if let note {
        try SealedRow.write([number, note], to: "pump_note", in: database)
      } else {
        try database.execute(sql: "DELETE FROM pump_note WHERE number = ?", arguments: [number])
      }
      var session = Self.session(row)
      session.note = note
      return session
    }
  }

  /// The statement that selects the sessions with their notes.
  private static let select = "SELECT * FROM pump_session LEFT JOIN (SELECT number, note FROM pump_note) USING (number)"

  /// Removes the notes of sessions that have been removed.
  private static func pruneNotes(_ database: Database) throws {
    try database.execute(sql: "DELETE FROM pump_note WHERE number NOT IN (SELECT number FROM pump_session)")
  }

  /// Ends the sessions that are still open because the process that recorded them ended unexpectedly.
  ///
  /// - Returns: the number of these sessions.
  @discardableResult
  func endOpen(as end: String) throws(StoreError) -> Int {
    try file.write("ending sessions of the pump", by: .byMachine) { database in
      let open = try Row.fetchAll(database, sql: "\(Self.select) WHERE end IS NULL").map(Self.session)
      for var session in open {
        session.end = end
        try SealedRow.write(Self.columns(session), to: "pump_session", in: database)
      }
      return open.count
    }
  }

  /// Returns a page of sessions, ordered by number.
  ///
  /// - Parameters:
  ///   - after: `next` of the previous page, or `nil` to begin with the first session.
  ///   - limit: the largest number of sessions, 1…10,000.
  public func sessions(
    _ query: PumpSessionQuery = PumpSessionQuery(), after: Int64? = nil, limit: Int = 100
  ) throws(StoreError) -> PumpSessionPage {
    precondition((1...10_000).contains(limit), "a page has 1…10,000 sessions")
    // One line more than requested is read, which shows whether there is a next page.
    var sessions = try file.read("reading the pump's sessions") { database in
      var conditions: [String] = []
      var arguments = StatementArguments()
      func add(_ condition: String, _ value: Int64) {
        conditions.append(condition)
        arguments += [value]
      }
      if let since = query.since { add("start >= ?", since.secondsSince1970) }
      if let until = query.until { add("start < ?", until.secondsSince1970) }
      if let after { add("number \(query.newestFirst ? "<" : ">") ?", after) }
      let filter = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
      arguments += [limit + 1]
      return try Row.fetchAll(
        database,
        sql: "\(Self.select) \(filter) ORDER BY number \(query.newestFirst ? "DESC" : "ASC") LIMIT ?",
        arguments: arguments
      ).map(Self.session)
    }
    guard sessions.count > limit else { return PumpSessionPage(sessions: sessions, next: nil) }
    sessions.removeLast()
    return PumpSessionPage(sessions: sessions, next: sessions.last?.number)
  }

  /// Removes the sessions that started before `before`, except the last one, because numbering continues from it.
  ///
  /// - Returns: the number of removed sessions.
  @discardableResult
  func prune(before: WallInstant) throws(StoreError) -> Int {
    try file.write("pruning the pump's sessions", by: .byMachine) { database in
      try database.execute(
        sql: "DELETE FROM pump_session WHERE start < ? AND number < (SELECT max(number) FROM pump_session)",
        arguments: [before.secondsSince1970])
      let count = database.changesCount
      try Self.pruneNotes(database)
      return count
    }
  }

  /// The largest number of stored sessions, independent of the clock.
  static var mostSessions: Int { 200_000 }

  /// Removes the oldest sessions until `most` are left.
  ///
  /// - Returns: the number of removed sessions.
  @discardableResult
  func prune(beyond most: Int) throws(StoreError) -> Int {
    let excess = try file.read("counting the pump's sessions") { database in
      (try Int.fetchOne(database, sql: "SELECT count(*) FROM pump_session") ?? 0) - most
    }
    guard excess > 0 else { return 0 }
    return try file.write("pruning the pump's sessions", by: .byMachine) { database in
      try database.execute(
        sql: "DELETE FROM pump_session WHERE number IN (SELECT number FROM pump_session ORDER BY number LIMIT ?)",
        arguments: [excess])
      let count = database.changesCount
      try Self.pruneNotes(database)
      return count
    }
  }

  private static func columns(_ session: PumpSession) -> [any DatabaseValueConvertible & Sendable] {
    [
      session.number, session.start.secondsSince1970, session.seconds, session.startedBy.databaseValue,
      session.end.databaseValue, session.endedBy.databaseValue, session.speedPercent.databaseValue,
      session.water.first.databaseValue, session.water.last.databaseValue, session.water.highest.databaseValue,
      session.skin.first.databaseValue, session.skin.last.databaseValue, session.skin.highest.databaseValue,
    ]
  }

  private static func session(_ row: Row) -> PumpSession {
    PumpSession(
      number: row["number"], start: WallInstant(secondsSince1970: row["start"]), seconds: row["seconds"],
      startedBy: row["started_by"], end: row["end"], endedBy: row["ended_by"], speedPercent: row["speed_percent"],
      water: .init(first: row["water_first"], last: row["water_last"], highest: row["water_highest"]),
      skin: .init(first: row["skin_first"], last: row["skin_last"], highest: row["skin_highest"]),
      note: row["note"])
  }
}

/// The used part of the pump's run limit, as it is stored across restarts of the program.
public struct PumpLimit: Sendable, Hashable {
  /// The boot of the machine to whose clock `since` belongs, or `nil` if it was not known.
  var boot: BootID?
  /// Whether the pump has been running since `since`; otherwise it has been resting.
  var isPumping: Bool
  var since: TickInstant
  /// The running time between the last rest and `since`.
  var before: Nanoseconds
}

/// A store for the used part of the pump's run limit.
public protocol PumpLimitStore: Sendable {
  /// Returns the state stored last, or `nil` if none was stored.
  func limit() throws(StoreError) -> PumpLimit?
  /// Stores a state; it is durable when the call returns.
  func keep(_ limit: PumpLimit) throws(StoreError)
  /// Whether the store can be read and written.
  var isOpen: Bool { get }
}

extension PumpStore: PumpLimitStore {
  public var isOpen: Bool { file.isOpen }
}

extension PumpStore {
  /// Returns the sessions as CSV; times are ISO 8601 in the given zone with their offset, `Z` for UTC.
  func sessionsCSV(
    _ query: PumpSessionQuery = PumpSessionQuery(newestFirst: false), zone: ZoneRules = .utc, linesAPiece: Int = 500
  ) -> CSVPieces<Int64> {
    let columns = [
      "number", "start", "seconds", "startedBy", "end", "endedBy", "speedPercent", "waterFirstCelsius",
      "waterLastCelsius", "waterHighestCelsius", "skinFirstCelsius", "skinLastCelsius", "skinHighestCelsius",
      "note",
    ]
    return CSVPieces(columns: columns) { after throws(StoreError) in
      let page = try self.sessions(query, after: after, limit: linesAPiece)
      return (page.sessions.map { Self.fields($0, zone) }, page.next)
    }
  }

  private static func fields(_ session: PumpSession, _ zone: ZoneRules) -> [String] {
    func tenths(_ number: Double?) -> String { number.map { "\(($0 * 10).rounded() / 10)" } ?? "" }
    return [
      "\(session.number)", WallTimeText.text(session.start, offsetSeconds: zone.offsetSeconds(at: session.start)),
      tenths(session.seconds), session.startedBy ?? "",
      session.end ?? "", session.endedBy ?? "", tenths(session.speedPercent), tenths(session.water.first),
      tenths(session.water.last), tenths(session.water.highest), tenths(session.skin.first),
      tenths(session.skin.last), tenths(session.skin.highest), session.note ?? "",
    ]
  }
}
