import GRDB
import Logging
import Service
import Sprinkler
import Store
import WallTime

/// The sprinkler's part of the store: its records and its watering log. Blocks like `StoreFile`.
public struct SprinklerStore: Sendable {
  let file: StoreFile

  public init(_ file: StoreFile) { self.file = file }

  /// Returns all records except the log: zones, programs and queued runs in order, start keys by date.
  public func records() throws(StoreError) -> SprinklerRecords {
    try file.read("reading the sprinkler's records") { try SprinklerTables.records($0) }
  }

  /// Applies the changes in order, as one transaction: either all of them or none. They are on the disk when the function returns.
  ///
  /// - `program`: a new program is placed after the others. `programOrder`: programs that are not listed keep their order after the listed ones;
  ///   unknown ids are ignored.
  /// - `pending`: a new run is placed after the others, a changed one keeps its place. `pendingOrder`: as `programOrder`.
  /// - `ran`: the zone's total of that day, not an increment; if the day differs from the last one, the totals of all zones are cleared.
  /// - `log`: a line replaces one with the same start and run.
  /// - `everything`: the counters never go back, so that no number is given twice; call `records()` afterwards.
  public func apply(_ changes: [SprinklerChange]) throws(StoreError) {
    if changes.isEmpty { return }
    try file.write("keeping a change", by: changes.contains(where: \.isMadeByPeople) ? .byPeople : .byMachine) {
      for change in changes { try SprinklerTables.make(change, $0) }
    }
  }

  /// Returns the contents of the configuration when it was last read, or `nil` if no start has recorded them yet.
  func lastFile() throws(StoreError) -> SprinklerFile? {
    try file.read("reading what the configuration said") { try SprinklerTables.state(SprinklerFile.self, .file, $0) }
  }

  /// Applies the changes that the configuration requires, and records its contents, as one transaction.
  func apply(_ changes: [SprinklerChange], of new: SprinklerFile) throws(StoreError) {
    try file.write("keeping what the configuration says", by: .byMachine) { database in
      for change in changes { try SprinklerTables.make(change, database) }
      try SprinklerTables.write(SprinklerTables.text(new), as: .file, database)
    }
  }

  /// Restores a backup in one transaction with the changes of other systems: adds the backup's lines to the log, and changes the records as the
  /// caller decides. The README says what comes from the backup and what stays.
  ///
  /// - Parameter decide: returns the changes to write, given the records that result from the backup and the present ones, or `nil` to change
  ///   nothing.
  /// - Returns: Whether the backup was written.
  public func restore(
    _ backup: CheckedBackup, _ decide: (SprinklerRecords) -> [SprinklerChange]?
  ) throws(StoreError) -> Bool {
    try file.restore(backup) { database in
      guard let changes = decide(try SprinklerTables.merged(database)) else { return false }
      for change in changes { try SprinklerTables.make(change, database) }
      return true
    }
  }

  /// Returns a page of the log in a stable order: by start, then by run.
  ///
  /// - Parameters:
  ///   - query: the lines to return, and their order.
  ///   - after: `next` of the previous page, or `nil` to begin at the first line.
  ///   - limit: the greatest number of lines, 1…10,000.
  public func log(
    _ query: LogQuery = LogQuery(), after: LogPosition? = nil, limit: Int = 100
  ) throws(StoreError) -> LogPage {
    precondition((1...10_000).contains(limit), "a page has 1…10,000 lines")
    // One line more than requested is read, which shows whether there is a next page.
    var records = try file.read("reading the log") {
      try SprinklerTables.records(query, after: after, limit: limit + 1, $0)
    }
    guard records.count > limit else { return LogPage(records: records, next: nil) }
    records.removeLast()
    return LogPage(records: records, next: records.last.map { LogPosition(start: $0.start, run: $0.run) })
  }

  /// Removes the lines of runs that started before an instant, some thousand lines in a transaction, so that others can write in between.
  ///
  /// - Returns: The number of lines removed.
  @discardableResult
  public func pruneLog(before: WallInstant) throws(StoreError) -> Int {
    var removed = 0
    while true {
      let count = try file.write("pruning the log", by: .byMachine) { database in
        // Up to the start of the line that is 2,000 further, and at least the first ones.
        let bound = try Int64.fetchOne(
          database, sql: "SELECT start FROM sprinkler_log WHERE start < ? ORDER BY start, run LIMIT 1 OFFSET 2000",
          arguments: [before.secondsSince1970])
        try database.execute(
          sql: "DELETE FROM sprinkler_log WHERE start <= ? AND start < ?",
          arguments: [bound ?? before.secondsSince1970, before.secondsSince1970])
        return try Self.forgetReasons(database)
      }
      removed += count
      if count < 2000 { return removed }
    }
  }
}

extension SprinklerStore {
  /// The greatest number of lines in the log, whatever the wall clock shows; some 50 MB.
  static var mostLines: Int { 500_000 }

  /// Removes the lines of the earliest runs until `most` lines are left.
  ///
  /// - Returns: The number of lines removed.
  @discardableResult
  func pruneLog(beyond most: Int) throws(StoreError) -> Int {
    var removed = 0
    while true {
      let excess = try file.read("counting the log") { database in
        (try Int.fetchOne(database, sql: "SELECT count(*) FROM sprinkler_log") ?? 0) - most
      }
      guard excess > 0 else { return removed }
      removed += try file.write("pruning the log", by: .byMachine) { database in
        try database.execute(
          sql: """
            DELETE FROM sprinkler_log WHERE (start, run) IN (SELECT start, run FROM sprinkler_log ORDER BY run LIMIT ?)
            """, arguments: [min(excess, 2_000)])
        return try Self.forgetReasons(database)
      }
    }
  }
}

extension SprinklerStore {
  /// Removes the reasons and litres of lines that were just removed, and returns how many lines those were.
  private static func forgetReasons(_ database: Database) throws -> Int {
    let removed = database.changesCount
    try database.execute(
      sql: """
        DELETE FROM sprinkler_why WHERE NOT EXISTS (
          SELECT 1 FROM sprinkler_log AS l WHERE l.start = sprinkler_why.start AND l.run = sprinkler_why.run);
        DELETE FROM sprinkler_litres WHERE NOT EXISTS (
          SELECT 1 FROM sprinkler_log AS l WHERE l.start = sprinkler_litres.start AND l.run = sprinkler_litres.run)
        """)
    return removed
  }
}

extension SprinklerChange {
  /// Whether people make the change, as opposed to the daemon.
  var isMadeByPeople: Bool {
    switch self {
    case .zones, .program, .programRemoved, .programOrder, .levels, .rainDelay, .forecast, .everything: true
    case .started, .startKeysForgotten, .suppressed, .takenBack, .rainDelayNoted, .pending, .pendingRemoved,
      .pendingOrder, .log, .ran, .deficits, .flows, .counters, .seen:
      false
    }
  }
}

/// The operations that a schedule needs from its store.
public protocol ScheduleStore: Sendable {
  /// The location of the store, for messages to people.
  var path: String { get }
  /// The reason why the store cannot be used, or `nil` if it can.
  var trouble: StoreError? { get }
  /// Applies the changes in order: either all of them or none. They are durable when the function returns.
  func apply(_ changes: [SprinklerChange]) throws(StoreError)
  /// Restores a backup. Returns whether it was written.
  func restore(
    _ backup: CheckedBackup, _ decide: (SprinklerRecords) -> [SprinklerChange]?
  ) throws(StoreError) -> Bool
}

extension SprinklerStore: ScheduleStore {
  public var path: String { file.path }
  public var trouble: StoreError? { file.trouble }
}

extension SprinklerStore {
  /// Returns the records, updated with the changes of the configuration since the last start. If there are no zones yet, they come from the
  /// configuration.
  func records(takingOver wiring: SprinklerWiring, _ logger: Logger) throws(StoreError) -> SprinklerRecords {
    var records = try records()
    let file = SprinklerFile(zones: wiring.zones, seasonalPercent: wiring.seasonalPercent)
    let last = try lastFile()
    if records.zones.isEmpty {
      records.zones = file.zones
      records.levels.seasonalPercent = file.seasonalPercent
      try apply([.zones(records.zones), .levels(records.levels)], of: file)
    } else if file != last {
      try merge(file, since: last ?? file, into: &records, wiring, logger)
    }
    if records.zones != file.zones {
      logger.notice(
        "zones are not as the configuration says: what it has not changed since the last start stays as people have set it",
        metadata: [
          "store": "\(records.zones.filter { !file.zones.contains($0) }.map(\.name))",
          "configuration": "\(file.zones.filter { !records.zones.contains($0) }.map(\.name))",
        ])
    }
    for zone in records.zones where !wiring.pins.contains(zone.gpioPin) {
      logger.error(
        "a zone's pin is not among the configuration's: it cannot run until PUT /api/zones gives it another",
        metadata: ["zone": "\(zone.id)", "pin": "\(zone.gpioPin)"])
    }
    return records
  }

  private func merge(
    _ file: SprinklerFile, since last: SprinklerFile, into records: inout SprinklerRecords, _ wiring: SprinklerWiring,
    _ logger: Logger
  ) throws(StoreError) {
    var taken: (words: [String], changes: [SprinklerChange])
    do throws(SprinklerRefusal) {
      taken = try records.merge(file, since: last, pins: wiring.pins, masterPin: wiring.masterPin)
    } catch {
      logger.error(
        "what the configuration says of zones cannot be taken: they stay as they are, and the next start tries again",
        metadata: ["reason": "\(error)"])
      return
    }
    try apply(taken.changes, of: file)
    if taken.words.isEmpty { return }
    logger.notice(
      "the configuration has changed since the last start, and is taken",
      metadata: ["changes": "\(taken.words.joined(separator: "; "))"])
  }
}

extension SprinklerStore {
  /// Returns the watering log as CSV. Times are ISO 8601 in the given zone with their offset, `Z` for UTC. Names that a spreadsheet would take
  /// for a formula are preceded by an apostrophe.
  func logCSV(
    _ query: LogQuery = LogQuery(newestFirst: false), zone: ZoneRules = .utc, linesAPiece: Int = 500
  ) -> CSVPieces<LogPosition> {
    let columns = [
      "run", "zone", "zoneName", "program", "programName", "scheduled", "start", "askedSeconds", "ranSeconds",
      "outcome", "caller", "why", "askedLitres", "litres",
    ]
    return CSVPieces(columns: columns) { after throws(StoreError) in
      let page = try self.log(query, after: after, limit: linesAPiece)
      return (page.records.map { Self.fields($0, zone) }, page.next)
    }
  }

  private static func fields(_ record: WateringRecord, _ zone: ZoneRules) -> [String] {
    [
      "\(record.run)", "\(record.zone)", record.zoneName.csvText, record.program.map { "\($0)" } ?? "",
      record.programName?.csvText ?? "", "\(record.isScheduled)",
      WallTimeText.text(record.start, offsetSeconds: zone.offsetSeconds(at: record.start)),
      "\(record.askedSeconds)", "\(record.ranSeconds)", record.outcome.word, record.caller?.csvText ?? "",
      record.why?.csvText ?? "", record.roundedAskedLitres.map { "\($0)" } ?? "",
      record.roundedLitres.map { "\($0)" } ?? "",
    ]
  }
}
