@_spi(FromOutside) import Conversions
import Logging
import Service
import Store

/// The identity of a row that a desk writes more than once, such as a run in progress.
public final class RowPlace {
  /// The number of the row, which is assigned when the store first accepts the row; `nil` before that.
  public fileprivate(set) var number: Int?

  /// Creates the identity of a row that has not been written yet.
  public init() {}
}

/// A table of the system for use by its desk. It is used on the desk's thread, and its methods may wait for the disk.
///
/// Rows that the store rejects are kept in memory and written again once a second, so that a disk that is temporarily
/// full or locked loses no rows.
public final class RowTable<Row: Settings>: RetriedTable {
  /// The maximum number of rows that wait for the store. Beyond it the oldest row is lost, which is logged.
  static var mostWaiting: Int { 10_000 }

  private let rows: StoredRows
  private let number: WritableKeyPath<Row, Int>
  private let logger: Logger
  private var waiting: [(place: RowPlace, row: Row)] = []
  private var hasFailed = false
  /// The value for rows that an earlier program left open; `nil` once they have it.
  private var leftOpen: (column: String, value: StoredValue)?

  init(_ rows: StoredRows, leftOpen: (column: String, value: StoredValue)? = nil, _ logger: Logger) {
    (self.rows, self.leftOpen, self.logger) = (rows, leftOpen, logger)
    guard let number = Row.keys.first(where: { $0.name == rows.numberColumn })?.path() as? WritableKeyPath<Row, Int>
    else {
      misdeclared("\(Row.self): its number is a writable Int")
    }
    self.number = number
    // Rows that were left open are completed before a client can read them.
    retry()
  }

  /// Writes a row, now or as soon as the store accepts it. For rows with the same identity the newest version counts.
  ///
  /// - Parameter place: the identity of a row that was written before; unless given the row is new.
  /// - Returns: the identity of the row.
  @discardableResult
  public func keep(_ row: Row, at place: RowPlace = RowPlace()) -> RowPlace {
    if let index = waiting.firstIndex(where: { $0.place === place }) {
      waiting[index].row = row
    } else {
      waiting.append((place, row))
    }
    if waiting.count > Self.mostWaiting {
      waiting.removeFirst()
      logger.error("a row is lost: too many wait for the store", metadata: ["rows": .stringConvertible(waiting.count)])
    }
    retry()
    return place
  }

  /// Returns the row with a number, or `nil` if there is no such row.
  ///
  /// - Throws: an `APIError` with status 503 and code `STORE_FAILED`.
  public func row(_ number: Int) throws(APIError) -> Row? {
    try stored { () throws(StoreError) in try rows.row(Int64(number)) }.map { Row($0) }
  }

  /// Returns the newest rows, the newest first.
  ///
  /// - Parameter limit: the maximum number of rows, 1…10,000.
  /// - Throws: an `APIError` with status 503 and code `STORE_FAILED`.
  public func newest(_ limit: Int) throws(APIError) -> [Row] {
    try stored { () throws(StoreError) in try rows.page(StoredRows.Query(limit: limit)).rows }.map { Row($0) }
  }

  /// Changes a row on request of a user. The change is on the disk when the method returns.
  ///
  /// - Throws: an `APIError`: 404 if there is no such row; 503 with code `STORE_FAILED` if the store rejects the
  ///   change, in which case nothing has changed.
  @discardableResult
  public func change(_ number: Int, _ change: (inout Row) -> Void) throws(APIError) -> Row {
    guard var row = try row(number) else { throw .notFound("there is no row \(number)") }
    change(&row)
    row[keyPath: self.number] = number
    do throws(StoreError) {
      try rows.write(row.storedRow, by: .byPeople)
    } catch {
      throw .storeFailed(error)
    }
    return row
  }

  // MARK: the daemon's

  func retry() {
    if let leftOpen {
      do throws(StoreError) {
        try rows.fill(leftOpen.column, with: leftOpen.value)
        self.leftOpen = nil
      } catch {
        return log(error)
      }
    }
    while let first = waiting.first {
      var row = first.row
      row[keyPath: number] = first.place.number ?? 0
      do throws(StoreError) {
        first.place.number = Int(clamping: try rows.write(row.storedRow, by: .byMachine))
        waiting.removeFirst()
      } catch {
        return log(error)
      }
    }
    guard hasFailed else { return }
    hasFailed = false
    logger.notice("the store takes rows again")
  }

  var isWaiting: Bool { !waiting.isEmpty }

  /// Logs an error of the store. A store that is not open is reported by the code that opens it.
  private func log(_ error: StoreError) {
    guard !hasFailed, rows.file.isOpen else { return }
    hasFailed = true
    logger.error("the store does not take a row, which is tried again", metadata: ["reason": .string("\(error)")])
  }
}

/// A table with rows that may wait for the store.
protocol RetriedTable: AnyObject {
  func retry()
  var isWaiting: Bool { get }
}
