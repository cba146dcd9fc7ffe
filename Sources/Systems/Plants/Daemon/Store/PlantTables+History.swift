import GRDB
import Plants
import Store

extension PlantTables {
  /// Writes a row, merged with an existing row of its sensor, span and start.
  static func add(_ row: PlantHistoryRow, _ database: Database) throws {
    var merged = row
    let there = try Row.fetchOne(
      database, sql: "SELECT * FROM plants_reading WHERE sensor = ? AND span = ? AND start = ?",
      arguments: [row.sensor.text, row.spanSeconds, row.start.secondsSince1970])
    if let there { merged.add(try historyRow(there)) }
    try SealedRow.write(
      [
        merged.sensor.text, merged.spanSeconds, merged.start.secondsSince1970, merged.count, merged.leastPercent,
        merged.meanPercent, merged.greatestPercent, merged.celsiusCount, merged.meanCelsius.databaseValue,
      ], to: "plants_reading", in: database)
  }

  static func historyRow(_ row: Row) throws -> PlantHistoryRow {
    let name: String = row["sensor"]
    guard let sensor = PlantSensorID(name) else {
      throw StoreError.damaged(file: "plants_reading", reason: "expected a sensor, found \(name)")
    }
    return PlantHistoryRow(
      sensor: sensor, start: PlantInstant(secondsSince1970: row["start"]), spanSeconds: row["span"],
      count: row["count"], leastPercent: row["least"], meanPercent: row["mean"], greatestPercent: row["greatest"],
      celsiusCount: row["celsius_count"], meanCelsius: row["celsius"])
  }

  static func event(_ row: Row) throws -> PlantLogLine {
    let name: String = row["kind"]
    guard let kind = PlantLogLine.Kind(rawValue: name) else {
      throw StoreError.damaged(file: "plants_event", reason: "expected a kind of event, found \(name)")
    }
    return PlantLogLine(
      at: PlantInstant(secondsSince1970: row["at"]), plant: PlantID(UInt64(bitPattern: row["plant"])),
      plantName: row["plant_name"], kind, detail: row["detail"])
  }
}
