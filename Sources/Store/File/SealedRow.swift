import GRDB

/// A row with a checksum of its own.
///
/// SQLite finds a page that makes no sense; it does not see that a digit in a column has become another one. Every table of the
/// store ends with the column `seal`, the FNV-1a sum of the others, and opening a store compares them.
enum SealedRow {
  /// Writes a row, in place of one with the same key.
  ///
  /// - Parameter values: All columns of the table but `seal`, in their order. U+0000, at which SQLite's texts end, becomes U+FFFD.
  static func write(_ values: [any DatabaseValueConvertible & Sendable], to table: StaticString, in database: Database)
    throws
  {
    let values = values.map { value in
      guard case .string(let text) = value.databaseValue.storage, text.utf8.contains(0) else {
        return value.databaseValue
      }
      return text.replacing("\0", with: "\u{FFFD}").databaseValue
    }
    let places = String(repeating: "?, ", count: values.count)
    let statement = try database.cachedStatement(sql: "INSERT OR REPLACE INTO \(table) VALUES (\(places)?)")
    try statement.execute(arguments: StatementArguments(values + [seal(values).databaseValue]))
  }

  /// The first row whose seal does not fit, in words; nil: all do.
  static func firstBroken(in table: String, _ database: Database) throws -> String? {
    let columns = try database.columns(in: table).map(\.name)
    guard columns.last == "seal" else { return nil }
    let rows = try Row.fetchCursor(database, sql: "SELECT * FROM \(table.quotedDatabaseIdentifier)")
    var number = 0
    while let row = try rows.next() {
      number += 1
      let values = (0..<columns.count).map { row[$0] as DatabaseValue }
      guard seal(values.dropLast()).databaseValue == values.last else {
        return "row \(number) of \(table) is not what was written"
      }
    }
    return nil
  }

  private static func seal(_ values: some Sequence<DatabaseValue>) -> Int64 {
    var sum: UInt64 = 0xcbf2_9ce4_8422_2325
    for value in values {
      switch value.storage {
      case .null: add(0, to: &sum)
      case .int64(let number):
        add(1, to: &sum)
        add(number: UInt64(bitPattern: number), to: &sum)
      case .double(let number):
        add(2, to: &sum)
        add(number: number.bitPattern, to: &sum)
      case .string(var text):
        add(3, to: &sum)
        text.withUTF8 { for byte in $0 { add(byte, to: &sum) } }
        // A byte that no text holds: neither can two columns trade characters.
        add(0xff, to: &sum)
      case .blob(let data):
        add(4, to: &sum)
        add(number: UInt64(data.count), to: &sum)
        for byte in data { add(byte, to: &sum) }
      }
    }
    return Int64(bitPattern: sum)
  }

  private static func add(_ byte: UInt8, to sum: inout UInt64) {
    sum = (sum ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
  }

  private static func add(number: UInt64, to sum: inout UInt64) {
    for shift: UInt64 in 0..<8 { add(UInt8(truncatingIfNeeded: number >> (8 * shift)), to: &sum) }
  }
}
