import GRDB
import Sprinkler
import Store
import WallTime

/// What the sprinkler keeps: its records, and its watering log. Blocks like `StoreFile`.
public struct SprinklerStore: Sendable {
  let file: StoreFile

  public init(_ file: StoreFile) { self.file = file }

  /// Everything but the log: zones, programs and queued runs in their order, start keys by date.
  public func records() throws(StoreError) -> SprinklerRecords {
    try file.read("reading the sprinkler's records") { try SprinklerTables.records($0) }
  }

  /// Makes changes, in their order, as one transaction: all or none, on the disk when this returns.
  ///
  /// - `program`: a new one goes behind the others. `programOrder`: those not named keep their order behind those that are; ids of none
  ///   are passed over.
  /// - `pending`: a new one goes behind the others, a changed one keeps its place. `pendingOrder`: as `programOrder`.
  /// - `ran`: the zone's total of that day, not an addition; with another day than the last, all zones' seconds begin anew.
  /// - `log`: a line with the same start and run takes the other's place.
  /// - `everything`: the counters never go back, so that no number is given twice; read `records()` afterwards.
  public func apply(_ changes: [SprinklerChange]) throws(StoreError) {
    if changes.isEmpty { return }
    try file.write("keeping a change", by: changes.contains(where: \.isMadeByPeople) ? .byPeople : .byMachine) {
      for change in changes { try SprinklerTables.make(change, $0) }
    }
  }

  /// What the configuration said when it was last read, or `nil` if no start has noted it yet.
  func lastFile() throws(StoreError) -> SprinklerFile? {
    try file.read("reading what the configuration said") { try SprinklerTables.state(SprinklerFile.self, .file, $0) }
  }

  /// Makes the changes that the configuration asks for, and notes what it says, as one transaction.
  func apply(_ changes: [SprinklerChange], of new: SprinklerFile) throws(StoreError) {
    try file.write("keeping what the configuration says", by: .byMachine) { database in
      for change in changes { try SprinklerTables.make(change, database) }
      try SprinklerTables.write(SprinklerTables.text(new), as: .file, database)
    }
  }

  /// Takes a backup: its lines of the log, and of the records what the caller makes of them, in one transaction with what other
  /// systems add. What comes from the backup and what stays is said in the README.
  ///
  /// - Parameter decide: what is written, from the records as the backup and what is here make them together, or `nil` to change nothing.
  /// - Returns: Whether it was written.
  public func restore(
    _ backup: CheckedBackup, _ decide: (SprinklerRecords) -> [SprinklerChange]?
  ) throws(StoreError) -> Bool {
    try file.restore(backup) { database in
      guard let changes = decide(try SprinklerTables.merged(database)) else { return false }
      for change in changes { try SprinklerTables.make(change, database) }
      return true
    }
  }

  /// Some lines of the log in a stable order: by start, and by run where that is the same.
  ///
  /// - Parameters:
  ///   - after: `next` of the page before, or `nil` to begin at the first.
  ///   - limit: 1…10,000.
  public func log(
    _ query: LogQuery = LogQuery(), after: LogPosition? = nil, limit: Int = 100
  ) throws(StoreError) -> LogPage {
    precondition((1...10_000).contains(limit), "a page has 1…10,000 lines")
    // One more than asked tells whether there is a next page.
    var records = try file.read("reading the log") {
      try SprinklerTables.records(query, after: after, limit: limit + 1, $0)
    }
    guard records.count > limit else { return LogPage(records: records, next: nil) }
    records.removeLast()
    return LogPage(records: records, next: records.last.map { LogPosition(start: $0.start, run: $0.run) })
  }

  /// Removes the lines of runs that started before; some thousand in a transaction, so that others can write in between.
  ///
  /// - Returns: So many.
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
        return database.changesCount
      }
      removed += count
      if count < 2000 { return removed }
    }
  }
}

extension SprinklerStore {
  /// Lines that the log has at most, whatever the clock says: some 50 MB.
  static var mostLines: Int { 500_000 }

  /// Removes the lines of the runs that were made first, but so many.
  ///
  /// - Returns: So many.
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
        return database.changesCount
      }
    }
  }
}

extension SprinklerChange {
  /// As opposed to what the machine notes of itself.
  var isMadeByPeople: Bool {
    switch self {
    case .zones, .program, .programRemoved, .programOrder, .levels, .rainDelay, .forecast, .everything: true
    case .started, .startKeysForgotten, .suppressed, .takenBack, .rainDelayNoted, .pending, .pendingRemoved,
      .pendingOrder, .log, .ran, .counters, .seen:
      false
    }
  }
}
