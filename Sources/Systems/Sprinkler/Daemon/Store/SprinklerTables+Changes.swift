import GRDB
import Sprinkler
import Store
import WallTime

extension SprinklerTables {
  /// Makes one change.
  static func make(_ change: SprinklerChange, _ database: Database) throws {
    switch change {
    case .zones(let zones):
      try database.execute(sql: "DELETE FROM sprinkler_zone")
      for (position, zone) in zones.enumerated() {
        try SealedRow.write([Int(zone.id.number), position, text(zone)], to: "sprinkler_zone", in: database)
      }
    case .program(let program): try write(program, database)
    case .programRemoved(let id):
      try database.execute(sql: "DELETE FROM sprinkler_program WHERE id = ?", arguments: [id])
    case .programOrder(let ids): try order(ids, database)
    case .levels(let levels): try write(text(levels), as: .levels, database)
    case .rainDelay(let delay), .rainDelayNoted(let delay):
      try write(delay.map { try text($0) }, as: .rainDelay, database)
    case .forecast(let isOn): try write(text(isOn), as: .forecast, database)
    case .started(let key): try SealedRow.write(columns(key), to: "sprinkler_start", in: database)
    case .startKeysForgotten(let date):
      try database.execute(sql: "DELETE FROM sprinkler_start WHERE date < ?", arguments: [dateText(date)])
      try database.execute(sql: "DELETE FROM sprinkler_suppressed WHERE date < ?", arguments: [dateText(date)])
    case .suppressed(let start): try SealedRow.write(columns(start), to: "sprinkler_suppressed", in: database)
    case .takenBack(let start): try takeBack(start, database)
    case .pending(let run): try write(run, database)
    case .pendingRemoved(let run):
      try database.execute(sql: "DELETE FROM sprinkler_pending WHERE run = ?", arguments: [Int64(bitPattern: run)])
    case .pendingOrder(let runs): try order(runs, database)
    case .log(let record): try SealedRow.write(columns(record), to: "sprinkler_log", in: database)
    case .ran(let zone, let seconds, let day):
      if try state(LocalDate.self, .day, database) != day {
        try database.execute(sql: "DELETE FROM sprinkler_ran")
        try write(text(day), as: .day, database)
      }
      try SealedRow.write([Int(zone.number), seconds], to: "sprinkler_ran", in: database)
    case .counters(let nextRun, let nextProgram):
      try write(text(Counters(nextRun: nextRun, nextProgram: nextProgram)), as: .counters, database)
    case .seen(let instant): try write(text(instant), as: .seen, database)
    case .everything(let records): try replaceAll(by: records, database)
    }
  }

  /// The key is free again, and the log says what became of what it said. No line is lost.
  private static func takeBack(_ start: SuppressedStart, _ database: Database) throws {
    let key = "WHERE date = ? AND program = ? AND kind = ? AND minute = ?"
    let columns = StatementArguments(columns(start.key).map(\.databaseValue))
    try database.execute(sql: "DELETE FROM sprinkler_start \(key)", arguments: columns)
    try database.execute(sql: "DELETE FROM sprinkler_suppressed \(key)", arguments: columns)
    let lines = try Row.fetchAll(
      database, sql: "SELECT * FROM sprinkler_log WHERE program = ? AND start = ?",
      arguments: [start.key.program, start.due.secondsSince1970]
    ).map(record)
    for var line in lines where line.isOf(start) {
      line.outcome = .wrongClock
      try SealedRow.write(self.columns(line), to: "sprinkler_log", in: database)
    }
  }

  /// A new one goes behind the others; one that is there keeps its place.
  private static func write(_ program: Program, _ database: Database) throws {
    let position =
      try Int.fetchOne(database, sql: "SELECT position FROM sprinkler_program WHERE id = ?", arguments: [program.id])
      ?? Int.fetchOne(database, sql: "SELECT ifnull(max(position), -1) + 1 FROM sprinkler_program")
    try SealedRow.write([program.id, position ?? 0, text(program)], to: "sprinkler_program", in: database)
  }

  private static func write(_ run: PendingRun, _ database: Database) throws {
    let number = Int64(bitPattern: run.run)
    let position =
      try Int.fetchOne(database, sql: "SELECT position FROM sprinkler_pending WHERE run = ?", arguments: [number])
      ?? Int.fetchOne(database, sql: "SELECT ifnull(max(position), -1) + 1 FROM sprinkler_pending")
    try SealedRow.write([number, position ?? 0, text(run)], to: "sprinkler_pending", in: database)
  }

  /// Those that are not named keep their order behind the others; names of none are passed over.
  private static func order(_ ids: [Int], _ database: Database) throws {
    let rows = try Row.fetchAll(database, sql: "SELECT id, value FROM sprinkler_program ORDER BY position")
    let places = Dictionary(ids.enumerated().map { ($1, $0) }, uniquingKeysWith: min)
    let sorted = rows.enumerated().sorted { left, right in
      (places[left.element[0]] ?? ids.count + left.offset) < (places[right.element[0]] ?? ids.count + right.offset)
    }
    for (position, row) in sorted.enumerated() {
      let (id, value): (Int, String) = (row.element[0], row.element[1])
      try SealedRow.write([id, position, value], to: "sprinkler_program", in: database)
    }
  }

  /// Those that are not named keep their order behind the others; numbers of none are passed over.
  private static func order(_ runs: [UInt64], _ database: Database) throws {
    let rows = try Row.fetchAll(database, sql: "SELECT run, value FROM sprinkler_pending ORDER BY position")
    let places = Dictionary(runs.enumerated().map { (Int64(bitPattern: $1), $0) }, uniquingKeysWith: min)
    let sorted = rows.enumerated().sorted { left, right in
      (places[left.element[0]] ?? runs.count + left.offset) < (places[right.element[0]] ?? runs.count + right.offset)
    }
    for (position, row) in sorted.enumerated() {
      let (run, value): (Int64, String) = (row.element[0], row.element[1])
      try SealedRow.write([run, position, value], to: "sprinkler_pending", in: database)
    }
  }

  /// - Parameter text: Nil removes it.
  static func write(_ text: String?, as name: State, _ database: Database) throws {
    if let text {
      try SealedRow.write([name.rawValue, text], to: "sprinkler_state", in: database)
    } else {
      try database.execute(sql: "DELETE FROM sprinkler_state WHERE name = ?", arguments: [name.rawValue])
    }
  }

  private static func replaceAll(by records: SprinklerRecords, _ database: Database) throws {
    let before = try state(Counters.self, .counters, database) ?? Counters()
    try database.execute(
      sql: """
        DELETE FROM sprinkler_program; DELETE FROM sprinkler_pending; DELETE FROM sprinkler_start;
        DELETE FROM sprinkler_suppressed; DELETE FROM sprinkler_ran
        """)
    try make(.zones(records.zones), database)
    for program in records.programs { try write(program, database) }
    for run in records.pending { try write(run, database) }
    for key in records.startKeys { try make(.started(key), database) }
    for start in records.suppressed { try make(.suppressed(start), database) }
    try make(.levels(records.levels), database)
    try make(.rainDelay(records.rainDelay), database)
    try make(.forecast(isOn: records.isForecastOn), database)
    try write(records.day.map { try text($0) }, as: .day, database)
    try write(records.seen.map { try text($0) }, as: .seen, database)
    for (zone, seconds) in records.ranToday {
      try SealedRow.write([Int(zone.number), seconds], to: "sprinkler_ran", in: database)
    }
    // A number that was given once, in the log or to an app, is not given again.
    try make(
      .counters(
        nextRun: max(records.nextRun, before.nextRun), nextProgram: max(records.nextProgram, before.nextProgram)),
      database)
  }
}
