import Plants
import Service
import Store

/// What a desk needs of its store. Blocks on the disk.
public protocol PlantDeskStore: Sendable {
  /// Whether somebody has opened it: why not is said where it is opened.
  var isOpen: Bool { get }
  /// Another number whenever a backup has been taken: the book is to be read again.
  var restoreCount: Int { get }
  /// 503: it could not be read.
  ///
  /// - Parameter failure: what came of reading it; the store knows better why it is not open.
  func notRead(_ failure: String?) -> APIError
  /// Everything but readings and events.
  func records() throws(StoreError) -> PlantRecords
  /// Makes changes, in their order: all or none, for good when this returns.
  func apply(_ changes: [PlantChange]) throws(StoreError)
  /// Adds rows of the history, or merges them with those that are there: all or none.
  func add(_ rows: [PlantHistoryRow]) throws(StoreError)
  /// Adds lines of the log: all or none.
  func add(_ lines: [PlantLogLine]) throws(StoreError)
  /// Forgets the rows of each span that begin before. Returns how many.
  @discardableResult
  func pruneReadings(_ expiries: [(spanSeconds: Int64, before: PlantInstant)]) throws(StoreError) -> Int
  /// Forgets older lines of the log. Returns how many.
  @discardableResult
  func pruneEvents(before: PlantInstant) throws(StoreError) -> Int
  /// Forgets readings of each span, and events, beyond so many: the oldest by their own instants.
  func pruneBeyond(readings: [(spanSeconds: Int64, most: Int)], events: Int) throws(StoreError)
  /// Rows of one sensor and span that begin at `from` or later and before `until`, oldest first; of more than `limit` the newest.
  func readings(
    of sensor: PlantSensorID, spanSeconds: Int64, from: PlantInstant, until: PlantInstant, limit: Int
  ) throws(StoreError) -> [PlantHistoryRow]
  /// Lines of one plant's log, or of all, newest first.
  func events(of plant: PlantID?, limit: Int) throws(StoreError) -> [PlantLogLine]
}

extension PlantStore: PlantDeskStore {
  public var isOpen: Bool { file.isOpen }
  public var restoreCount: Int { file.restoreCount }
  public func notRead(_ failure: String?) -> APIError { .storeNotRead(file, failure) }
}
