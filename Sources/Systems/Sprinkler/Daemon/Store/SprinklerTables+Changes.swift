@_spi(FromOutside) import Conversions
import GRDB
import Service
import Sprinkler
import Store
import WallTime

extension SprinklerTables {
  /// Writes one change to the tables.
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
    case .programOrder(let ids): try order(ids.map { Int64($0) }, of: .programs, database)
    case .levels(let levels): try write(text(levels), as: .levels, database)
    case .rainDelay(let delay), .rainDelayNoted(let delay):
      try write(delay.map { try text($0) }, as: .rainDelay, database)
    case .forecast(let isOn): try write(text(isOn), as: .forecast, database)
    case .started(let key): try SealedRow.write(columns(key), to: "sprinkler_start", in: database)
    case .startKeysForgotten(let date):
      try database.execute(sql: "DELETE FROM sprinkler_start WHERE date < ?", arguments: [WallTimeText.text(date)])
      try database.execute(sql: "DELETE FROM sprinkler_suppressed WHERE date < ?", arguments: [WallTimeText.text(date)])
    case .suppressed(let start): try SealedRow.write(columns(start), to: "sprinkler_suppressed", in: database)
    case .takenBack(let start): try takeBack(start, database)
    case .pending(let run): try write(run, database)
    case .pendingRemoved(let run):
      try database.execute(sql: "DELETE FROM sprinkler_pending WHERE run = ?", arguments: [Int64(bitPattern: run)])
    case .pendingOrder(let runs): try order(runs.map { Int64(bitPattern: $0) }, of: .pending, database)
    case .log(let record): try write(record, database)
    case .ran(let zone, let seconds, let day):
      if try state(LocalDate.self, .day, database) != day {
        try database.execute(sql: "DELETE FROM sprinkler_ran")
        try write(text(day), as: .day, database)
      }
      try SealedRow.write([Int(zone.number), seconds], to: "sprinkler_ran", in: database)
    case .deficits(let deficits): try write(text(deficits), as: .deficits, database)
    case .flows(let flows): try write(text(flows), as: .flows, database)
    case .counters(let nextRun, let nextProgram):
      try write(text(Counters(nextRun: nextRun, nextProgram: nextProgram)), as: .counters, database)
    case .seen(let instant): try write(text(instant), as: .seen, database)
    case .everything(let records): try replaceAll(by: records, database)
    }
  }

  private static func write(_ record: WateringRecord, _ database: Database) throws {
    try SealedRow.write(columns(record), to: "sprinkler_log", in: database)
    let (start, run) = (record.start.secondsSince1970, Int64(bitPattern: record.run))
    if record.askedLitres != nil || record.litres != nil {
      let litres = [record.askedLitres.databaseValue, record.litres.databaseValue]
      try SealedRow.write([start, run] + litres, to: "sprinkler_litres", in: database)
    }
    if let why = record.why { return try SealedRow.write([start, run, why], to: "sprinkler_why", in: database) }
    try database.execute(sql: "DELETE FROM sprinkler_why WHERE start = ? AND run = ?", arguments: [start, run])
  }

  /// Frees the key of the start, and sets the outcome of its lines in the log to `wrongClock`. No line is removed.
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

  /// A table whose rows have an order.
  private struct Ordered {
    let table: StaticString
    /// The name of the column with the number of a row.
    let number: String

    static let programs = Ordered(table: "sprinkler_program", number: "id")
    static let pending = Ordered(table: "sprinkler_pending", number: "run")
  }

  private static func write(_ program: Program, _ database: Database) throws {
    try write(program, Int64(program.id), to: .programs, database)
  }

  private static func write(_ run: PendingRun, _ database: Database) throws {
    try write(run, Int64(bitPattern: run.run), to: .pending, database)
  }

  /// Writes a value: a new one after the others, an existing one in its present place.
  private static func write(
    _ value: some Encodable, _ number: Int64, to list: Ordered, _ database: Database
  ) throws {
    let position =
      try Int.fetchOne(
        database, sql: "SELECT position FROM \(list.table) WHERE \(list.number) = ?", arguments: [number])
      ?? Int.fetchOne(database, sql: "SELECT ifnull(max(position), -1) + 1 FROM \(list.table)")
    try SealedRow.write([number, position ?? 0, text(value)], to: list.table, in: database)
  }

  /// Sorts the rows by these numbers. Rows that are not listed keep their order after the listed ones; unknown numbers are ignored.
  private static func order(_ numbers: [Int64], of list: Ordered, _ database: Database) throws {
    let rows = try Row.fetchAll(database, sql: "SELECT \(list.number), value FROM \(list.table) ORDER BY position")
    let places = Dictionary(numbers.enumerated().map { ($1, $0) }, uniquingKeysWith: min)
    let sorted = rows.enumerated().sorted { left, right in
      (places[left.element[0]] ?? numbers.count + left.offset)
        < (places[right.element[0]] ?? numbers.count + right.offset)
    }
    for (position, row) in sorted.enumerated() {
      let (number, value): (Int64, String) = (row.element[0], row.element[1])
      try SealedRow.write([number, position, value], to: list.table, in: database)
    }
  }

  /// Writes a row of `sprinkler_state`.
  ///
  /// - Parameter text: the value, or `nil` to remove the row.
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
    try make(.deficits(records.deficits), database)
    try make(.flows(records.flows), database)
    try write(records.seen.map { try text($0) }, as: .seen, database)
    for (zone, seconds) in records.ranToday {
      try SealedRow.write([Int(zone.number), seconds], to: "sprinkler_ran", in: database)
    }
    // A number that was once assigned, and that the log and apps may contain, is not assigned again.
    try make(
      .counters(
        nextRun: max(records.nextRun, before.nextRun), nextProgram: max(records.nextProgram, before.nextProgram)),
      database)
  }
}
