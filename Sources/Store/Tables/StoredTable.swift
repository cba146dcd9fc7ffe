import GRDB

/// A table of rows with numbers, which comes whole from a list of columns: made, sealed, read in pages, pruned, and checked when a backup is restored.
public struct StoredTable: Sendable {
  /// As the file has it: `kettle_runs`.
  public let name: String
  let columns: [StoredColumn]
  /// The column of the row's number, 1….
  let number: StoredColumn
  /// The column of the instant by which old rows are removed, or `nil` if age removes none.
  let time: StoredColumn?
  /// Whether several systems share the table, each with numbers of its own.
  let isShared: Bool

  /// - Parameters:
  ///   - name: lower-case letters, digits and `_`.
  ///   - columns: in the order of the file, which never changes once released.
  ///   - number: the name of one of them, whose values are whole numbers from 1.
  ///   - time: the name of the one with seconds since 1970 by which old rows are removed, or `nil` if age removes none.
  ///   - isShared: whether several systems share it, each with numbers of its own.
  public init(_ name: String, columns: [StoredColumn], number: String, time: String?, isShared: Bool) {
    guard let numbers = columns.first(where: { $0.name == number }) else {
      preconditionFailure("\(name): its number \(number) is none of its columns")
    }
    (self.name, self.columns, self.number, self.isShared) = (name, columns, numbers, isShared)
    self.time = time.flatMap { time in columns.first { $0.name == time } }
    precondition(time == nil || self.time != nil, "\(name): its time is none of its columns")
  }

  var quoted: String { name.quotedDatabaseIdentifier }

  /// Makes it, in a migration.
  public func make(_ database: Database) throws {
    let own = (isShared ? ["instance TEXT NOT NULL"] : []) + columns.map(\.declaration)
    let key = isShared ? "instance, \(number.quoted)" : number.quoted
    try database.execute(
      sql: "CREATE TABLE \(quoted) (\(own.joined(separator: ", ")), seal INTEGER NOT NULL, PRIMARY KEY (\(key))) STRICT"
    )
  }

  /// Takes the rows that only the attached backup has.
  ///
  /// - Throws: `StoreError.damaged` if one of its rows makes no sense.
  public func restore(_ database: Database) throws {
    let sense = columns.map(\.sense) + ["\(number.quoted) >= 1"] + (isShared ? ["length(instance) > 0"] : [])
    try StoreSystem.refuse("rows of \(name)", in: name, unless: sense.joined(separator: " AND "), database)
    try database.execute(sql: "INSERT OR IGNORE INTO main.\(quoted) SELECT * FROM backup.\(quoted)")
  }
}
