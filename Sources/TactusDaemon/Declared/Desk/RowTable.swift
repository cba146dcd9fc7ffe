import Logging
import Service
import Store

/// The place of one row that a desk writes more than once: a run that goes on.
public final class RowPlace {
  /// Given when the store has taken the row first; `nil` before.
  public fileprivate(set) var number: Int?

  /// A place of a row that has not been written yet.
  public init() {}
}

/// A table as the system's desk has it. Used on the desk's thread; its calls may wait for the disk.
///
/// What the store refuses is kept in memory and tried again once a second, so that a disk that is full or locked for a while loses nothing.
public final class RowTable<Row: Settings>: RetriedTable {
  /// Rows that wait for the store at most; beyond it the oldest is lost, which is logged.
  static var mostWaiting: Int { 10_000 }

  private let rows: StoredRows
  private let number: WritableKeyPath<Row, Int>
  private let logger: Logger
  private var waiting: [(place: RowPlace, row: Row)] = []
  private var hasFailed = false

  init(_ rows: StoredRows, _ logger: Logger) {
    (self.rows, self.logger) = (rows, logger)
    guard let number = Row.keys.first(where: { $0.name == rows.numberColumn })?.path() as? WritableKeyPath<Row, Int>
    else {
      preconditionFailure("\(Row.self): its number is a writable Int")
    }
    self.number = number
  }

  /// Writes a row, now or when the store takes it. The newest version of a place counts.
  ///
  /// - Parameter place: of a row that was written before; unless given the row is new.
  /// - Returns: its place.
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

  /// The row of a number, or `nil` if there is none.
  ///
  /// - Throws: 503 `STORE_FAILED`.
  public func row(_ number: Int) throws(APIError) -> Row? {
    try stored { () throws(StoreError) in try rows.row(Int64(number)) }.map { Row($0) }
  }

  /// The newest rows, of which the first is the newest.
  ///
  /// - Parameter limit: 1…10,000.
  /// - Throws: 503 `STORE_FAILED`.
  public func newest(_ limit: Int) throws(APIError) -> [Row] {
    try stored { () throws(StoreError) in try rows.page(StoredRows.Query(limit: limit)).rows }.map { Row($0) }
  }

  /// Changes a row for a person who asks for it: it is on the disk when this returns.
  ///
  /// - Throws: 404 if there is no such row; 503 `STORE_FAILED` if the store does not take it, and nothing has changed.
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
    while let first = waiting.first {
      var row = first.row
      row[keyPath: number] = first.place.number ?? 0
      do throws(StoreError) {
        first.place.number = Int(clamping: try rows.write(row.storedRow, by: .byMachine))
        waiting.removeFirst()
      } catch {
        return tell(error)
      }
    }
    guard hasFailed else { return }
    hasFailed = false
    logger.notice("the store takes rows again")
  }

  var isWaiting: Bool { !waiting.isEmpty }

  /// That the store is not open is said by what opens it.
  private func tell(_ error: StoreError) {
    guard !hasFailed, rows.file.isOpen else { return }
    hasFailed = true
    logger.error("the store does not take a row, which is tried again", metadata: ["reason": .string("\(error)")])
  }
}

/// A table whose rows may wait for the store.
protocol RetriedTable: AnyObject {
  func retry()
  var isWaiting: Bool { get }
}
