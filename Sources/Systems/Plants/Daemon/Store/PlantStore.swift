@_spi(FromOutside) import Conversions
import Foundation
import GRDB
import Plants
import Service
import Store
import WallTime

/// The plants' stored data: records by user, readings by sensor, and the events of each plant. Blocks like `StoreFile`.
public struct PlantStore: Sendable {
  let file: StoreFile

  public init(_ file: StoreFile) { self.file = file }

  /// Returns all stored data except readings and events.
  public func records() throws(StoreError) -> PlantRecords {
    try file.read("reading the plants") { try PlantTables.records($0) }
  }

  /// Makes changes in their order as one transaction: all or none. They are on the disk when the call returns.
  ///
  /// - `plantRemoved` also removes the plant's events and its link's requests; readings belong to the sensors and stay.
  /// - `everything` never decreases the number of the next plant; read `records()` afterwards.
  public func apply(_ changes: [PlantChange], after restores: Int? = nil) throws(StoreError) {
    if changes.isEmpty { return }
    let who: StoreFile.Unsaved = changes.contains(where: \.isMadeByPeople) ? .byPeople : .byMachine
    try file.write("keeping a plant", by: who, after: restores) {
      for change in changes { try PlantTables.make(change, $0) }
    }
  }

  // MARK: readings

  /// Adds rows, all or none: a row whose sensor, span and start exist already is merged with the existing one.
  public func add(_ rows: [PlantHistoryRow]) throws(StoreError) {
    if rows.isEmpty { return }
    try file.write("keeping readings", by: .byMachine) { for row in rows { try PlantTables.add(row, $0) } }
  }

  /// Returns the rows of one sensor and tier that begin at `from` or later and before `until`, oldest first; if there are more than `limit`, the
  /// newest of them.
  public func readings(
    of sensor: PlantSensorID, spanSeconds: Int64, from: PlantInstant, until: PlantInstant, limit: Int = 100_000
  ) throws(StoreError) -> [PlantHistoryRow] {
    try file.read("reading the history") { database in
      try Row.fetchAll(
        database,
        sql: """
          SELECT * FROM plants_reading WHERE sensor = ? AND span = ? AND start >= ? AND start < ?
          ORDER BY start DESC LIMIT ?
          """,
        arguments: [sensor.text, spanSeconds, from.secondsSince1970, until.secondsSince1970, limit]
      ).map(PlantTables.historyRow).reversed()
    }
  }

  /// Deletes the rows of each span that begin before its instant, some thousand in each transaction, so that other writes can take place in between.
  ///
  /// - Returns: the number of deleted rows.
  @discardableResult
  public func pruneReadings(_ expiries: [(spanSeconds: Int64, before: PlantInstant)]) throws(StoreError) -> Int {
    var removed = 0
    for (span, before) in expiries {
      while true {
        let count = try file.write("pruning readings", by: .byMachine) { database in
          try database.execute(
            sql: """
              DELETE FROM plants_reading WHERE (sensor, span, start) IN
                (SELECT sensor, span, start FROM plants_reading WHERE span = ? AND start < ? LIMIT 2000)
              """, arguments: [span, before.secondsSince1970])
          return database.changesCount
        }
        removed += count
        if count < 2000 { break }
      }
    }
    return removed
  }

  // MARK: events

  public func add(_ lines: [PlantLogLine]) throws(StoreError) {
    if lines.isEmpty { return }
    try file.write("keeping a plant's events", by: .byMachine) { database in
      for line in lines {
        try SealedRow.write(
          [
            line.at.secondsSince1970, Int64(bitPattern: line.plant.number), line.kind.rawValue, line.detail,
            line.plantName,
          ], to: "plants_event", in: database)
      }
    }
  }

  /// Returns the lines of the log, newest first.
  ///
  /// - Parameters:
  ///   - plant: the plant, or `nil` for all plants.
  ///   - limit: the largest number of lines, 1…10,000.
  public func events(of plant: PlantID? = nil, limit: Int = 100) throws(StoreError) -> [PlantLogLine] {
    precondition((1...10_000).contains(limit), "a page has 1…10,000 lines")
    return try file.read("reading plants' events") { database in
      let filter = plant == nil ? "" : "WHERE plant = ?"
      let arguments = StatementArguments((plant.map { [Int64(bitPattern: $0.number)] } ?? []) + [Int64(limit)])
      return try Row.fetchAll(
        database, sql: "SELECT * FROM plants_event \(filter) ORDER BY at DESC, plant, kind, detail LIMIT ?",
        arguments: arguments
      ).map(PlantTables.event)
    }
  }

  /// Deletes readings of each span and events in excess of the given numbers, the oldest first by their timestamps.
  ///
  /// Rows with timestamps from a wrong clock are deleted first if they are in the past and last if they are in the future; the number of both is
  /// bounded.
  public func pruneBeyond(readings: [(spanSeconds: Int64, most: Int)], events: Int) throws(StoreError) {
    for (span, most) in readings {
      try prune(
        beyond: most, counting: "SELECT count(*) FROM plants_reading WHERE span = \(span)",
        deleting: """
          DELETE FROM plants_reading WHERE (sensor, span, start) IN
            (SELECT sensor, span, start FROM plants_reading WHERE span = \(span) ORDER BY start LIMIT ?)
          """)
    }
    try prune(
      beyond: events, counting: "SELECT count(*) FROM plants_event",
      deleting: """
        DELETE FROM plants_event WHERE (at, plant, kind, detail) IN
          (SELECT at, plant, kind, detail FROM plants_event ORDER BY at LIMIT ?)
        """)
  }

  private func prune(beyond most: Int, counting: String, deleting: String) throws(StoreError) {
    while true {
      let excess = try file.read("counting what plants keep") { database in
        (try Int.fetchOne(database, sql: counting) ?? 0) - most
      }
      guard excess > 0 else { return }
      try file.write("pruning what plants keep", by: .byMachine) { database in
        try database.execute(sql: deleting, arguments: [min(excess, 2_000)])
      }
    }
  }

  /// Deletes the events before an instant.
  ///
  /// - Returns: the number of deleted lines.
  @discardableResult
  public func pruneEvents(before: PlantInstant) throws(StoreError) -> Int {
    try file.write("pruning plants' events", by: .byMachine) { database in
      try database.execute(sql: "DELETE FROM plants_event WHERE at < ?", arguments: [before.secondsSince1970])
      return database.changesCount
    }
  }
}

extension PlantChange {
  /// Whether a person made the change, as opposed to a note that the program makes automatically.
  var isMadeByPeople: Bool {
    switch self {
    case .plant, .plantRemoved, .nextPlant, .calibration, .everything: true
    case .watering, .fileCalibrations: false
    }
  }
}

/// A daily picture without its bytes.
struct PlantPicture: Sendable, Hashable {
  /// The local day on which the picture was taken, as days since 1970.
  let day: Int
  /// The instant at which the picture was taken, in seconds since 1970.
  let at: Int64
  /// The length of the picture in bytes.
  let length: Int

  /// The day as documents show it, such as `2026-03-29`.
  var date: String { "\(LocalDate(daysSince1970: day))" }
  /// The instant at which the picture was taken, as documents show it.
  var taken: String { PlantInstant(secondsSince1970: at).text }
}

extension PlantStore {
  /// The days that a picture may have, as days since 1970: until the end of the year 9999.
  static let pictureDays = 0...2_932_896

  /// Stores the picture of a day, replacing the day's present one.
  func keep(_ jpeg: [UInt8], day: Int, at: Int64) throws(StoreError) {
    try file.write("keeping a picture of the plants", by: .byMachine) { database in
      try SealedRow.write([day, at, Data(jpeg)], to: "plants_picture", in: database)
    }
  }

  func hasPicture(of day: Int) throws(StoreError) -> Bool {
    try file.read("looking for a picture") { database in
      try Bool.fetchOne(
        database, sql: "SELECT EXISTS (SELECT 1 FROM plants_picture WHERE day = ?)", arguments: [day]) ?? false
    }
  }

  /// Returns the pictures before a day, newest first, at most `limit`.
  func pictures(before day: Int, limit: Int) throws(StoreError) -> [PlantPicture] {
    try file.read("reading the plants' pictures") { database in
      try Row.fetchAll(
        database, sql: "SELECT day, at, length(jpeg) FROM plants_picture WHERE day < ? ORDER BY day DESC LIMIT ?",
        arguments: [day, limit]
      ).map { PlantPicture(day: $0[0], at: $0[1], length: $0[2]) }
    }
  }

  /// Returns the picture of a day, or `nil` if there is none.
  func picture(of day: Int) throws(StoreError) -> [UInt8]? {
    try file.read("reading a picture of the plants") { database in
      try Data.fetchOne(database, sql: "SELECT jpeg FROM plants_picture WHERE day = ?", arguments: [day])
        .map { [UInt8]($0) }
    }
  }

  /// Deletes the pictures of the days after a day.
  func prunePictures(after day: Int) throws(StoreError) {
    try file.write("pruning the plants' pictures", by: .byMachine) { database in
      try database.execute(sql: "DELETE FROM plants_picture WHERE day > ?", arguments: [day])
    }
  }

  /// Deletes the oldest pictures until there are at most `count` and they have at most `bytes` together; the newest one stays.
  func prunePictures(count: Int, bytes: Int) throws(StoreError) {
    try file.write("pruning the plants' pictures", by: .byMachine) { database in
      try database.execute(
        sql: """
          DELETE FROM plants_picture WHERE day IN (
            SELECT day FROM (
              SELECT day, row_number() OVER newest AS number, sum(length(jpeg)) OVER newest AS total
              FROM plants_picture WINDOW newest AS (ORDER BY day DESC))
            WHERE number > 1 AND (number > ? OR total > ?))
          """, arguments: [count, bytes])
    }
  }
}

/// The store of a desk. All methods block on the disk.
public protocol PlantDeskStore: Sendable {
  /// Whether the store has been opened; a failure to open is reported by the code that opens it.
  var isOpen: Bool { get }
  /// A number that changes whenever a backup has been restored and the book must be read again.
  var restoreCount: Int { get }
  /// Returns the error 503 for a store that could not be read.
  ///
  /// - Parameter failure: the error of the read, used unless the store knows why it is not open.
  func notRead(_ failure: String?) -> APIError
  /// Returns all stored data except readings and events.
  func records() throws(StoreError) -> PlantRecords
  /// Makes changes in their order: all or none. They are durable when the call returns.
  ///
  /// - Parameter restores: `restoreCount` before the records were read on which the changes are based, or `nil` if they are based on none.
  /// - Throws: `StoreError.restored` if a backup has been restored since then, which the changes would undo.
  func apply(_ changes: [PlantChange], after restores: Int?) throws(StoreError)
  /// Adds rows to the history, or merges them with the existing ones: all or none.
  func add(_ rows: [PlantHistoryRow]) throws(StoreError)
  /// Adds lines to the log: all or none.
  func add(_ lines: [PlantLogLine]) throws(StoreError)
  /// Deletes the rows of each span that begin before the span's instant. Returns the number of deleted rows.
  @discardableResult
  func pruneReadings(_ expiries: [(spanSeconds: Int64, before: PlantInstant)]) throws(StoreError) -> Int
  /// Deletes the lines of the log older than `before`. Returns the number of deleted lines.
  @discardableResult
  func pruneEvents(before: PlantInstant) throws(StoreError) -> Int
  /// Deletes readings of each span and events in excess of the given numbers, the oldest first by their timestamps.
  func pruneBeyond(readings: [(spanSeconds: Int64, most: Int)], events: Int) throws(StoreError)
  /// Returns the rows of one sensor and span that begin at `from` or later and before `until`, oldest first. If there are more than `limit` rows,
  /// only the newest are returned.
  func readings(
    of sensor: PlantSensorID, spanSeconds: Int64, from: PlantInstant, until: PlantInstant, limit: Int
  ) throws(StoreError) -> [PlantHistoryRow]
  /// Returns the log lines of one plant, or of all plants if `plant` is `nil`, newest first.
  func events(of plant: PlantID?, limit: Int) throws(StoreError) -> [PlantLogLine]
}

extension PlantStore: PlantDeskStore {
  public var isOpen: Bool { file.isOpen }
  public var restoreCount: Int { file.restoreCount }
  public func notRead(_ failure: String?) -> APIError { .storeNotRead(file, failure) }
}
