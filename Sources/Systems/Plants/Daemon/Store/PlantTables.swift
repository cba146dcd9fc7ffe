import Foundation
import GRDB
import Plants
import Store

/// Conversion between the plants' rows and values, within a transaction of the caller.
enum PlantTables {
  static let encoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }()
  static let decoder = JSONDecoder()

  /// The names of the rows of `plants_state`.
  private static let nextPlant = "nextPlant"
  private static let mostPlants: UInt64 = 1 << 53
  private static let fileCalibrations = "fileCalibrations"

  private static func text(_ value: some Encodable) throws -> String {
    String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  /// Decodes a value from the JSON of a row.
  ///
  /// - Throws: `StoreError.damaged` if the row is intact but was not written by this version.
  private static func value<Value: Decodable>(_ type: Value.Type, _ text: String, _ place: String) throws -> Value {
    do {
      return try decoder.decode(type, from: Data(text.utf8))
    } catch {
      throw StoreError.damaged(file: place, reason: "expected a \(type), found other JSON")
    }
  }

  /// Reads all records of the plants.
  ///
  /// - Parameter base: `main`, or `backup` in a restore.
  static func records(_ database: Database, in base: StaticString = "main") throws -> PlantRecords {
    var records = PlantRecords()
    records.plants = try String.fetchAll(database, sql: "SELECT value FROM \(base).plants_plant ORDER BY id")
      .map { try value(Plant.self, $0, "plants_plant") }
    func state<Value: Decodable>(_ type: Value.Type, _ name: String) throws -> Value? {
      let text = try String.fetchOne(
        database, sql: "SELECT value FROM \(base).plants_state WHERE name = ?", arguments: [name])
      return try text.map { try value(type, $0, "plants_state") }
    }
    records.nextPlant = try state(UInt64.self, nextPlant) ?? 1
    records.fileCalibrations = try state([PlantSensorID: PlantCalibration].self, fileCalibrations)
    // The next number is one more. A number so great that counting could overflow was not assigned by this program.
    guard (1...mostPlants).contains(records.nextPlant),
      records.plants.allSatisfy({ (1...mostPlants).contains($0.id.number) })
    else {
      throw StoreError.damaged(file: "plants_plant", reason: "expected plants' numbers 1…\(mostPlants), found others")
    }
    for row in try Row.fetchAll(database, sql: "SELECT sensor, dry, wet FROM \(base).plants_calibration") {
      let name: String = row[0]
      guard let sensor = PlantSensorID(name), let calibration = try? PlantCalibration(dry: row[1], wet: row[2]) else {
        throw StoreError.damaged(file: "plants_calibration", reason: "expected a sensor's two points, found \(name)")
      }
      records.calibrations[sensor] = calibration
    }
    for row in try Row.fetchAll(database, sql: "SELECT plant, value FROM \(base).plants_watering") {
      let plant = PlantID(UInt64(bitPattern: row[0]))
      records.waterings[plant] = try value(PlantWateringRecord.self, row[1], "plants_watering")
    }
    return records
  }

  /// Makes one change.
  static func make(_ change: PlantChange, _ database: Database) throws {
    switch change {
    case .plant(let plant):
      try SealedRow.write([number(plant.id), plant.user.key, text(plant)], to: "plants_plant", in: database)
    case .plantRemoved(let id):
      try database.execute(sql: "DELETE FROM plants_plant WHERE id = ?", arguments: [number(id)])
      try database.execute(sql: "DELETE FROM plants_watering WHERE plant = ?", arguments: [number(id)])
      try database.execute(sql: "DELETE FROM plants_event WHERE plant = ?", arguments: [number(id)])
    case .nextPlant(let next): try SealedRow.write([nextPlant, text(next)], to: "plants_state", in: database)
    case .fileCalibrations(let all):
      try SealedRow.write([fileCalibrations, text(all)], to: "plants_state", in: database)
    case .calibration(let sensor, let calibration?):
      try SealedRow.write([sensor.text, calibration.dry, calibration.wet], to: "plants_calibration", in: database)
    case .calibration(let sensor, nil):
      try database.execute(sql: "DELETE FROM plants_calibration WHERE sensor = ?", arguments: [sensor.text])
    case .watering(let id, let record):
      try SealedRow.write([number(id), text(record)], to: "plants_watering", in: database)
    case .everything(let records): try replaceAll(by: records, database)
    }
  }

  private static func number(_ id: PlantID) -> Int64 { Int64(bitPattern: id.number) }

  private static func replaceAll(by records: PlantRecords, _ database: Database) throws {
    // A number that was once assigned, and that topics and apps may know, is not assigned again.
    let next = max(records.nextPlant, try self.records(database).nextPlant)
    try database.execute(
      sql: "DELETE FROM plants_plant; DELETE FROM plants_calibration; DELETE FROM plants_watering")
    for plant in records.plants { try make(.plant(plant), database) }
    for (sensor, calibration) in records.calibrations { try make(.calibration(sensor, calibration), database) }
    for (plant, record) in records.waterings { try make(.watering(plant, record), database) }
    try make(.nextPlant(next), database)
  }

  /// Restores plants and calibrations from the backup. The links' requests concern the present: where both databases have some for a plant, the
  /// current ones stay. Readings and events of both are kept.
  static func restore(_ database: Database) throws {
    let current = try records(database)
    var records = try records(database, in: "backup")
    let plants = Set(records.plants.map(\.id))
    records.waterings.merge(current.waterings) { _, here in here }
    records.waterings = records.waterings.filter { plants.contains($0.key) }
    // A seal shows that a row is as it was written, not that its values make sense.
    try StoreSystem.refuse(
      "readings of its plants", in: "plants_reading",
      unless: """
        span IN (60, 900, 21600) AND start BETWEEN 0 AND 253402300799 AND count BETWEEN 1 AND 2147483647
        AND least BETWEEN 0 AND 100 AND mean BETWEEN 0 AND 100 AND greatest BETWEEN 0 AND 100
        AND celsius_count BETWEEN 0 AND 2147483647 AND ifnull(celsius, 0) BETWEEN -1000 AND 1000
        """, database)
    try StoreSystem.refuse(
      "events of its plants", in: "plants_event",
      unless: "at BETWEEN 0 AND 253402300799 AND plant BETWEEN 1 AND \(mostPlants)", database)
    try StoreSystem.refuse(
      "pictures of its plants", in: "plants_picture",
      unless:
        "day BETWEEN 0 AND \(PlantStore.pictureDays.upperBound) AND at BETWEEN 0 AND 253402300799 AND length(jpeg) <= 1048576",
      database)
    try database.execute(
      sql: """
        INSERT OR IGNORE INTO main.plants_reading SELECT * FROM backup.plants_reading;
        INSERT OR IGNORE INTO main.plants_event SELECT * FROM backup.plants_event;
        INSERT OR IGNORE INTO main.plants_picture SELECT * FROM backup.plants_picture
        """)
    try make(.everything(records), database)
  }
}

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
