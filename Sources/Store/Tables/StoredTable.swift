import GRDB

/// A table of numbered rows that is defined by a list of columns: it can be created, sealed, read in pages and pruned, and is
/// checked when a backup is restored.
public struct StoredTable: Sendable {
  /// The name of the table in the file, such as `kettle_runs`.
  public let name: String
  let columns: [StoredColumn]
  /// The column of the row's number, which counts from 1.
  let number: StoredColumn
  /// The column of the instant by which old rows are removed, or `nil` if rows are not removed by age.
  let time: StoredColumn?
  /// Whether several systems share the table, each with its own numbering.
  let isShared: Bool

  /// Creates the definition of a table.
  ///
  /// - Parameters:
  ///   - name: the name of the table: lower-case letters, digits and `_`.
  ///   - columns: the columns in the order of the file. A released column is neither changed nor removed; a column that
  ///     a later release adds has its `since`.
  ///   - number: the name of the column with the row's number, whose values are whole numbers from 1.
  ///   - time: the name of the column with the seconds since 1970 by which old rows are removed, or `nil` if rows are not removed by
  ///     age.
  ///   - isShared: whether several systems share the table, each with its own numbering.
  public init(_ name: String, columns: [StoredColumn], number: String, time: String?, isShared: Bool) {
    guard let numbers = columns.first(where: { $0.name == number }) else {
      preconditionFailure("\(name): its number \(number) is none of its columns")
    }
    (self.name, self.columns, self.number, self.isShared) = (name, columns, numbers, isShared)
    self.time = time.flatMap { time in columns.first { $0.name == time } }
    precondition(time == nil || self.time != nil, "\(name): its time is none of its columns")
  }

  var quoted: String { name.quotedDatabaseIdentifier }

  /// Returns the description of the table's rows for people. A restore merges these rows with the present ones.
  ///
  /// - Parameter rows: the rows in words for people.
  public func content(_ rows: String) -> StoreContent { StoreContent(rows, in: name, time: time?.name, .joined) }

  /// Creates the table, in a migration, without the columns that later versions of the format have added.
  public func make(_ database: Database) throws { try make(columns.filter { $0.since == nil }, database) }

  private func make(_ columns: [StoredColumn], _ database: Database) throws {
    let own = (isShared ? ["instance TEXT NOT NULL"] : []) + columns.map(\.declaration)
    let key = isShared ? "instance, \(number.quoted)" : number.quoted
    try database.execute(
      sql: "CREATE TABLE \(quoted) (\(own.joined(separator: ", ")), seal INTEGER NOT NULL, PRIMARY KEY (\(key))) STRICT"
    )
  }

  /// The versions of the store's format that have added columns, in ascending order.
  public var laterSteps: [Int] { Set(columns.compactMap(\.since)).sorted() }

  /// Adds the columns of a version of the store's format, in a migration. The rows get the columns' standard values and
  /// new seals.
  public func widen(to step: Int, _ database: Database) throws {
    guard laterSteps.contains(step) else { return }
    let columns = columns.filter { $0.since ?? .min <= step }
    let before = "\(name)_before_\(step)"
    try database.execute(sql: "ALTER TABLE \(quoted) RENAME TO \(before.quotedDatabaseIdentifier)")
    try make(columns, database)
    let rows = try Row.fetchCursor(database, sql: "SELECT * FROM \(before.quotedDatabaseIdentifier)")
    while let row = try rows.next() {
      let values = columns.map { column in
        column.since == step ? column.fitted(column.standard).database : row[column.name] as DatabaseValue
      }
      try SealedRow.write(
        (isShared ? [row["instance"] as DatabaseValue] : []) + values, into: name, in: database)
    }
    try database.execute(sql: "DROP TABLE \(before.quotedDatabaseIdentifier)")
  }

  /// Adds the rows that exist only in the attached backup.
  ///
  /// - Throws: `StoreError.damaged` if one of these rows has invalid values.
  public func restore(_ database: Database) throws {
    let sense = columns.map(\.sense) + ["\(number.quoted) >= 1"] + (isShared ? ["length(instance) > 0"] : [])
    try StoreSystem.refuse("rows of \(name)", in: name, unless: sense.joined(separator: " AND "), database)
    try database.execute(sql: "INSERT OR IGNORE INTO main.\(quoted) SELECT * FROM backup.\(quoted)")
  }
}
