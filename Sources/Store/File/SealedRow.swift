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
    func add(_ byte: UInt8) { sum = (sum ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    func add(_ number: UInt64) {
      for shift in stride(from: 0, to: 64, by: 8) { add(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
    }
    for value in values {
      switch value.storage {
      case .null: add(0 as UInt8)
      case .int64(let number):
        add(1 as UInt8)
        add(UInt64(bitPattern: number))
      case .double(let number):
        add(2 as UInt8)
        add(number.bitPattern)
      case .string(let text):
        add(3 as UInt8)
        text.utf8.forEach(add)
        // A byte that no text holds: neither can two columns trade characters.
        add(0xff as UInt8)
      case .blob(let data):
        add(4 as UInt8)
        add(UInt64(data.count))
        data.forEach(add)
      }
    }
    return Int64(bitPattern: sum)
  }
}
