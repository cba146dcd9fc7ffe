@_spi(FromOutside) import Conversions
import GRDB
import Sprinkler
import Store
import WallTime

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
