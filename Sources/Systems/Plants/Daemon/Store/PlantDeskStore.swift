import Plants
import Service
import Store

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
  func apply(_ changes: [PlantChange]) throws(StoreError)
  /// Adds rows to the history, or merges them with the existing ones: all or none.
  func add(_ rows: [PlantHistoryRow]) throws(StoreError)
  /// Adds lines to the log: all or none.
  func add(_ lines: [PlantLogLine]) throws(StoreError)
  /// Deletes the rows of each span that begin before its instant. Returns the number of deleted rows.
  @discardableResult
  func pruneReadings(_ expiries: [(spanSeconds: Int64, before: PlantInstant)]) throws(StoreError) -> Int
  /// Deletes the lines of the log older than `before`. Returns the number of deleted lines.
  @discardableResult
  func pruneEvents(before: PlantInstant) throws(StoreError) -> Int
  /// Deletes readings of each span and events in excess of the given numbers, the oldest first by their timestamps.
  func pruneBeyond(readings: [(spanSeconds: Int64, most: Int)], events: Int) throws(StoreError)
  /// Returns the rows of one sensor and span that begin at `from` or later and before `until`, oldest first; if there are more than `limit`, the
  /// newest of them.
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
