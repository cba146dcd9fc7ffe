@_spi(FromOutside) import Conversions
import GRDB
import GRDBSQLite

/// A row with a checksum.
///
/// SQLite detects a damaged page but not a digit in a column that has changed. Every table of the store therefore ends with the
/// column `seal`, the FNV-1a sum of the other columns, which is checked when a store is opened.
public enum SealedRow {
  /// Writes a row, replacing one with the same key.
  ///
  /// - Parameter values: all columns of the table except `seal`, in their order. U+0000, at which SQLite's texts end, becomes U+FFFD.
  public static func write(
    _ values: [any DatabaseValueConvertible & Sendable], to table: StaticString, in database: Database
  )
    throws
  {
    try write(values.map(\.databaseValue), into: "\(table)", in: database)
  }

  /// Writes a row, replacing one with the same key, to a table whose name comes from a declaration.
  static func write(_ values: [DatabaseValue], into table: String, in database: Database) throws {
    let values = values.map { value in
      guard case .string(let text) = value.storage, text.utf8.contains(0) else { return value }
      return text.replacing("\0", with: "\u{FFFD}").databaseValue
    }
    let places = String(repeating: "?, ", count: values.count)
    let statement = try database.cachedStatement(
      sql: "INSERT OR REPLACE INTO \(table.quotedDatabaseIdentifier) VALUES (\(places)?)")
    try statement.execute(arguments: StatementArguments(values + [seal(values).databaseValue]))
  }

  /// Returns a description of the first row whose seal does not match, or `nil` if all match.
  ///
  /// Reads SQLite's bytes directly: a log of several years is checked whenever the store is opened, and copying every text of it
  /// would take most of the time.
  static func firstBroken(in table: String, _ database: Database) throws -> String? {
    guard try database.columns(in: table).last?.name == "seal" else { return nil }
    let query = try database.makeStatement(sql: "SELECT * FROM \(table.quotedDatabaseIdentifier)")
    let rows = try Row.fetchCursor(query)
    let statement = query.sqliteStatement
    let last = sqlite3_column_count(statement) - 1
    var number = 0
    while try rows.next() != nil {
      number += 1
      guard sqlite3_column_type(statement, last) == SQLITE_INTEGER,
        seal(statement, columns: last) == sqlite3_column_int64(statement, last)
      else { return "row \(number) of \(table) is not what was written" }
    }
    return nil
  }

  /// Returns the seal of the first columns of a statement's present row.
  private static func seal(_ statement: SQLiteStatement, columns: Int32) -> Int64 {
    var seal = Seal()
    for column in 0..<columns {
      switch sqlite3_column_type(statement, column) {
      case SQLITE_INTEGER: seal.add(integer: sqlite3_column_int64(statement, column))
      case SQLITE_FLOAT: seal.add(real: sqlite3_column_double(statement, column))
      case SQLITE_TEXT:
        // First the text, then its length, as SQLite wants it.
        let start = sqlite3_column_text(statement, column)
        seal.add(text: UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
      case SQLITE_BLOB:
        let start = sqlite3_column_blob(statement, column)
        seal.add(blob: UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
      default: seal.addNull()
      }
    }
    return seal.value
  }

  private static func seal(_ values: [DatabaseValue]) -> Int64 {
    var seal = Seal()
    for value in values {
      switch value.storage {
      case .null: seal.addNull()
      case .int64(let number): seal.add(integer: number)
      case .double(let number): seal.add(real: number)
      case .string(var text): text.withUTF8 { seal.add(text: UnsafeRawBufferPointer($0)) }
      case .blob(let data): data.withUnsafeBytes { seal.add(blob: $0) }
      }
    }
    return seal.value
  }
}
