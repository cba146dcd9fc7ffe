import GRDB
import Store
import WallTime

// The pump's values by the minute.
extension PumpStore {
  /// Adds spans, all or none; a span whose minute is stored already is merged with it. They are on the disk when the call returns.
  func add(_ spans: [PumpSpan]) throws(StoreError) {
    if spans.isEmpty { return }
    try file.write("keeping the pump's readings", by: .byMachine) { database in
      for span in spans {
        var merged = span
        let there = try Row.fetchOne(
          database, sql: "SELECT * FROM pump_minute WHERE start = ?", arguments: [span.start.secondsSince1970])
        if let there { merged.add(Self.span(there)) }
        try SealedRow.write(Self.columns(merged), to: "pump_minute", in: database)
      }
    }
  }

  /// Returns the stored spans, merged to those of a raster, oldest first. A span of the raster in which nothing is stored is left out.
  func spans(_ raster: PumpRaster) throws(StoreError) -> [PumpSpan] {
    try file.read("reading the pump's readings") { database in
      try Row.fetchAll(
        database,
        sql: """
          SELECT ? + (start - ?) / ? * ? AS start, sum(samples) AS samples, sum(running) AS running,
            \(Self.merged("speed")), \(Self.merged("water")), \(Self.merged("skin"))
          FROM pump_minute WHERE start >= ? AND start < ? GROUP BY 1 ORDER BY 1
          """,
        arguments: [
          raster.start.secondsSince1970, raster.start.secondsSince1970, raster.seconds, raster.seconds,
          raster.start.secondsSince1970, raster.end.secondsSince1970,
        ]
      ).map(Self.span)
    }
  }

  /// Removes the spans that began before an instant.
  ///
  /// - Returns: the number of removed spans.
  @discardableResult
  func pruneSpans(before: WallInstant) throws(StoreError) -> Int {
    try file.write("pruning the pump's readings", by: .byMachine) { database in
      try database.execute(sql: "DELETE FROM pump_minute WHERE start < ?", arguments: [before.secondsSince1970])
      return database.changesCount
    }
  }

  /// Removes the oldest spans until `most` are left.
  ///
  /// - Returns: the number of removed spans.
  @discardableResult
  func pruneSpans(beyond most: Int) throws(StoreError) -> Int {
    let excess = try file.read("counting the pump's readings") { database in
      (try Int.fetchOne(database, sql: "SELECT count(*) FROM pump_minute") ?? 0) - most
    }
    guard excess > 0 else { return 0 }
    return try file.write("pruning the pump's readings", by: .byMachine) { database in
      try database.execute(
        sql: "DELETE FROM pump_minute WHERE start IN (SELECT start FROM pump_minute ORDER BY start LIMIT ?)",
        arguments: [excess])
      return database.changesCount
    }
  }

  /// Returns the columns of a quantity over several rows. The mean is weighted by the numbers of values, and `NULL` if there are none.
  private static func merged(_ name: String) -> String {
    """
    sum(\(name)_count) AS \(name)_count, min(\(name)_least) AS \(name)_least,
    sum(\(name)_mean * \(name)_count) / sum(\(name)_count) AS \(name)_mean, max(\(name)_highest) AS \(name)_highest
    """
  }

  private static func columns(_ span: PumpSpan) -> [any DatabaseValueConvertible & Sendable] {
    var columns: [any DatabaseValueConvertible & Sendable] = [
      span.start.secondsSince1970, span.samples, span.running,
    ]
    for spread in [span.speed, span.water, span.skin] {
      let count: Int64 = spread?.count ?? 0
      let values: [Double?] = [spread?.least, spread?.mean, spread?.highest]
      columns.append(count)
      for value in values { columns.append(value.databaseValue) }
    }
    return columns
  }

  private static func span(_ row: Row) -> PumpSpan {
    PumpSpan(
      start: WallInstant(secondsSince1970: row["start"]), samples: row["samples"], running: row["running"],
      speed: spread("speed", row), water: spread("water", row), skin: spread("skin", row))
  }

  private static func spread(_ name: String, _ row: Row) -> PumpSpread? {
    let count: Int64 = row["\(name)_count"]
    let least: Double? = row["\(name)_least"]
    let mean: Double? = row["\(name)_mean"]
    let highest: Double? = row["\(name)_highest"]
    guard count > 0, let least, let mean, let highest else { return nil }
    return PumpSpread(count: count, least: least, mean: mean, highest: highest)
  }
}
