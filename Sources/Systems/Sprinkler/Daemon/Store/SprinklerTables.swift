@_spi(FromOutside) import Conversions
import Foundation
import GRDB
import Service
import Sprinkler
import Store
import WallTime

/// Converts between the sprinkler's rows and values, within a transaction of the caller.
enum SprinklerTables {
  static let encoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }()
  static let decoder = JSONDecoder()

  /// The names of the rows of `sprinkler_state`.
  enum State: String {
    case levels
    case rainDelay
    /// Whether the forecast may start rain delays; a missing row means that it may.
    case forecast
    case counters
    case day
    case seen
    /// The deficits of zones; a missing row means that no day has been counted.
    case deficits
    /// The known flows of zones. A zone without a row has no known flow.
    case flows
    /// The contents of the configuration when it was last read, a `SprinklerFile`.
    case file
  }

  struct Counters: Codable {
    var nextRun: UInt64 = 1
    var nextProgram = 1
  }

  static func text(_ value: some Encodable) throws -> String {
    String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  /// Decodes a value from its JSON.
  ///
  /// - Throws: `StoreError.damaged` if the row is intact but does not have the format of this version.
  static func value<Value: Decodable>(_ type: Value.Type, _ text: String, _ place: String) throws -> Value {
    do {
      return try decoder.decode(type, from: Data(text.utf8))
    } catch {
      throw StoreError.damaged(file: place, reason: "expected a \(type), found other JSON")
    }
  }

  /// Reads all records except the log.
  ///
  /// - Parameter base: the database `main`, or `backup` in a restore.
  static func records(_ database: Database, in base: StaticString = "main") throws -> SprinklerRecords {
    func list<Value: Decodable>(_ type: Value.Type, _ table: String) throws -> [Value] {
      try String.fetchAll(database, sql: "SELECT value FROM \(base).\(table) ORDER BY position")
        .map { try value(type, $0, table) }
    }
    var records = SprinklerRecords()
    records.zones = try list(Zone.self, "sprinkler_zone")
    records.programs = try list(Program.self, "sprinkler_program")
    records.pending = try list(PendingRun.self, "sprinkler_pending")
    records.levels = try state(SprinklerLevels.self, .levels, database, in: base) ?? SprinklerLevels()
    records.rainDelay = try state(RainDelay.self, .rainDelay, database, in: base)
    records.isForecastOn = try state(Bool.self, .forecast, database, in: base) ?? true
    let counters = try state(Counters.self, .counters, database, in: base) ?? Counters()
    records.nextRun = counters.nextRun
    records.nextProgram = counters.nextProgram
    records.day = try state(LocalDate.self, .day, database, in: base)
    records.seen = try state(WallInstant.self, .seen, database, in: base)
    records.deficits = try state([ZoneDeficit].self, .deficits, database, in: base) ?? []
    records.flows = try state([ZoneFlow].self, .flows, database, in: base) ?? []
    records.startKeys = try Row.fetchAll(
      database,
      sql: "SELECT program, date, kind, minute FROM \(base).sprinkler_start ORDER BY date, program, kind, minute"
    ).map(startKey)
    records.suppressed = try Row.fetchAll(
      database,
      sql: "SELECT program, date, kind, minute, due, why FROM \(base).sprinkler_suppressed ORDER BY due, program"
    ).map(suppressed)
    for row in try Row.fetchAll(database, sql: "SELECT zone, seconds FROM \(base).sprinkler_ran") {
      let number: Int = row[0]
      guard let zone = ZoneID(number) else {
        throw StoreError.damaged(file: "sprinkler_ran", reason: "expected a zone 1…64, found \(number)")
      }
      records.ranToday[zone] = row[1]
    }
    return records
  }

  static func state<Value: Decodable>(
    _ type: Value.Type, _ name: State, _ database: Database, in base: StaticString = "main"
  ) throws -> Value? {
    let text = try String.fetchOne(
      database, sql: "SELECT value FROM \(base).sprinkler_state WHERE name = ?", arguments: [name.rawValue])
    return try text.map { try value(type, $0, "sprinkler_state") }
  }

  /// Adds the backup's log to the present one. Where both have a line, the present one stays.
  ///
  /// - Throws: `StoreError.damaged` if a line of the backup has invalid values. Its seal shows only that the line is as it was written, and an
  ///   invalid line would affect all readers of the log.
  static func mergeLog(_ database: Database) throws {
    let outcomes = RunOutcome.named.keys.map { "'\($0)'" }.joined(separator: ", ")
    try StoreSystem.refuse(
      "lines of its watering log", in: "sprinkler_log",
      unless: """
        start BETWEEN 0 AND 253402300799 AND run > 0 AND zone BETWEEN 1 AND 64 AND is_scheduled IN (0, 1)
        AND (program IS NULL OR program BETWEEN 1 AND 2147483647) AND asked_seconds BETWEEN 0 AND 1000000
        AND ran_seconds BETWEEN 0 AND 1000000 AND outcome IN (\(outcomes))
        """, database)
    try StoreSystem.refuse(
      "reasons of its watering log", in: "sprinkler_why",
      unless: "start BETWEEN 0 AND 253402300799 AND run > 0 AND length(why) BETWEEN 1 AND 400", database)
    try StoreSystem.refuse(
      "litres of its watering log", in: "sprinkler_litres",
      unless: """
        start BETWEEN 0 AND 253402300799 AND run > 0 AND (asked IS NULL OR asked BETWEEN 0 AND 1000000)
        AND (flowed IS NULL OR flowed BETWEEN 0 AND 1000000000)
        """, database)
    try database.execute(
      sql: """
        INSERT OR IGNORE INTO main.sprinkler_litres SELECT * FROM backup.sprinkler_litres AS litres WHERE NOT EXISTS (
          SELECT 1 FROM main.sprinkler_log AS l WHERE l.start = litres.start AND l.run = litres.run);
        INSERT OR IGNORE INTO main.sprinkler_why SELECT * FROM backup.sprinkler_why AS why WHERE NOT EXISTS (
          SELECT 1 FROM main.sprinkler_log AS l WHERE l.start = why.start AND l.run = why.run);
        INSERT OR IGNORE INTO main.sprinkler_log SELECT * FROM backup.sprinkler_log
        """)
  }

  /// Returns the records that result from a backup and the present records, after `mergeLog`. Zones, programs and levels come from the backup, and
  /// the rain delay is the one that ends later. The queue, the totals of today, the deficits and the instant up to which starts have been dealt with describe the
  /// present and stay. Start keys are united. Numbers once given are never given again.
  static func merged(_ database: Database) throws -> SprinklerRecords {
    let current = try records(database)
    var records = try records(database, in: "backup")
    records.pending = current.pending
    records.day = current.day
    records.ranToday = current.ranToday
    records.seen = current.seen
    records.startKeys = Array(Set(records.startKeys).union(current.startKeys))
    records.suppressed = current.suppressed
    records.deficits = current.deficits
    records.flows = current.flows
    if let delay = current.rainDelay, delay.until >= records.rainDelay?.until ?? delay.until {
      records.rainDelay = delay
    }
    let logged = try Int64.fetchOne(database, sql: "SELECT max(run) FROM main.sprinkler_log") ?? 0
    records.nextRun = max(records.nextRun, current.nextRun, UInt64(clamping: max(0, logged)) + 1)
    records.nextProgram = max(records.nextProgram, current.nextProgram)
    return records
  }

  // MARK: Start keys as columns

  static func columns(_ key: StartKey) -> [any DatabaseValueConvertible & Sendable] {
    let (kind, minute) =
      switch key.start {
      case .clock(let minute): ("clock", minute)
      case .sunrise(let minute): ("sunrise", minute)
      case .sunset(let minute): ("sunset", minute)
      }
    return [WallTimeText.text(key.date), key.program, kind, minute]
  }

  static func columns(_ start: SuppressedStart) -> [any DatabaseValueConvertible & Sendable] {
    columns(start.key) + [start.due.secondsSince1970, start.why.word]
  }

  private static func suppressed(_ row: Row) throws -> SuppressedStart {
    let (due, why): (Int64, String) = (row[4], row[5])
    guard let outcome = RunOutcome.named[why] else {
      throw StoreError.damaged(file: "sprinkler_suppressed", reason: "expected an outcome, found \(why)")
    }
    return SuppressedStart(try startKey(row), due: WallInstant(secondsSince1970: due), why: outcome)
  }

  private static func startKey(_ row: Row) throws -> StartKey {
    let (date, kind, minute): (String, String, Int) = (row[1], row[2], row[3])
    let parts = date.split(separator: "-").compactMap { Int($0) }
    let start: StartTime? =
      switch kind {
      case "clock": .clock(minute: minute)
      case "sunrise": .sunrise(offsetMinutes: minute)
      case "sunset": .sunset(offsetMinutes: minute)
      default: nil
      }
    guard parts.count == 3, let start else {
      throw StoreError.damaged(file: "sprinkler_start", reason: "expected a date and a kind, found \(date), \(kind)")
    }
    return StartKey(
      program: row[0], start: start, date: LocalDate(year: parts[0], month: parts[1], day: parts[2]))
  }
}

extension SprinklerTables {
  static func columns(_ record: WateringRecord) throws -> [any DatabaseValueConvertible & Sendable] {
    [
      record.start.secondsSince1970, Int64(bitPattern: record.run), Int(record.zone.number), record.zoneName,
      record.program.databaseValue, record.programName.databaseValue, record.isScheduled, record.askedSeconds,
      record.ranSeconds, record.outcome.word, record.caller.databaseValue,
    ]
  }

  static func record(_ row: Row) throws -> WateringRecord {
    let (zoneNumber, outcomeName): (Int, String) = (row["zone"], row["outcome"])
    guard let zone = ZoneID(zoneNumber), let outcome = RunOutcome.named[outcomeName] else {
      throw StoreError.damaged(
        file: "sprinkler_log", reason: "expected a zone and an outcome, found \(zoneNumber), \(outcomeName)")
    }
    var record = WateringRecord(
      run: UInt64(bitPattern: row["run"]), zone: zone, zoneName: row["zone_name"], program: row["program"],
      programName: row["program_name"], isScheduled: row["is_scheduled"],
      start: WallInstant(secondsSince1970: row["start"]), askedSeconds: row["asked_seconds"],
      ranSeconds: row["ran_seconds"], outcome: outcome, caller: row["caller"], why: row["why"])
    (record.askedLitres, record.litres) = (row["asked_litres"], row["litres"])
    return record
  }

  /// Returns the lines of the log that match the query.
  ///
  /// - Parameter limit: the greatest number of lines, at least 1.
  static func records(
    _ query: LogQuery, after: LogPosition?, limit: Int, _ database: Database
  ) throws -> [WateringRecord] {
    var conditions: [String] = []
    var arguments = StatementArguments()
    func add(_ condition: String, _ values: any DatabaseValueConvertible & Sendable...) {
      conditions.append(condition)
      arguments += StatementArguments(values.map(\.databaseValue))
    }
    if let since = query.since { add("start >= ?", since.secondsSince1970) }
    if let until = query.until { add("start < ?", until.secondsSince1970) }
    if let zone = query.zone { add("zone = ?", Int(zone.number)) }
    if let program = query.program { add("program = ?", program) }
    if let after {
      add(
        "(start, run) \(query.newestFirst ? "<" : ">") (?, ?)", after.start.secondsSince1970,
        Int64(bitPattern: after.run))
    }
    let direction = query.newestFirst ? "DESC" : "ASC"
    let filter = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
    arguments += [limit]
    return try Row.fetchAll(
      database,
      sql: """
        SELECT *, (SELECT why FROM sprinkler_why AS w WHERE w.start = sprinkler_log.start AND w.run = sprinkler_log.run) AS why,
          (SELECT asked FROM sprinkler_litres AS l WHERE l.start = sprinkler_log.start AND l.run = sprinkler_log.run) AS asked_litres,
          (SELECT flowed FROM sprinkler_litres AS l WHERE l.start = sprinkler_log.start AND l.run = sprinkler_log.run) AS litres
        FROM sprinkler_log \(filter) ORDER BY start \(direction), run \(direction) LIMIT ?
        """, arguments: arguments
    ).map(record)
  }
}

extension RunOutcome {
  /// The name of the case, which the API and the log use: `completed`, `rainDelay`, `powerCut`.
  var word: String { String(describing: self) }

  static let named = Dictionary(
    uniqueKeysWithValues: (0...UInt8.max).compactMap { RunOutcome(rawValue: $0) }.map { ($0.word, $0) })
}
