import GRDB
public import WallTime

/// The rows of one system in a table. Blocks like `StoreFile`.
public struct StoredRows: Sendable {
  /// A selection of rows and their order.
  public struct Query: Sendable, Hashable {
    /// The earliest time of the rows, inclusive, or `nil` for no limit.
    public var since: WallInstant?
    /// The time before which the rows must be, or `nil` for no limit.
    public var until: WallInstant?
    /// Whether the newest row comes first; otherwise the oldest does.
    public var isNewestFirst: Bool
    /// The number of the last row of the previous page, or `nil` to begin at the first row.
    public var after: Int64?
    /// The greatest number of rows, 1…10,000.
    public var limit: Int

    /// Creates a query, by default for all rows from the newest on.
    public init(
      since: WallInstant? = nil, until: WallInstant? = nil, isNewestFirst: Bool = true, after: Int64? = nil,
      limit: Int = 100
    ) {
      (self.since, self.until, self.isNewestFirst) = (since, until, isNewestFirst)
      (self.after, self.limit) = (after, limit)
    }
  }

  /// Some rows and the number after which the next page begins, which is `nil` if there are no more rows.
  public typealias Page = (rows: [[StoredValue]], next: Int64?)

  /// The file that contains the rows.
  public let file: StoreFile
  let table: StoredTable
  private let instance: String

  /// Creates access to one system's rows in a table.
  ///
  /// - Parameter instance: the system's name if several systems share the table; otherwise not used.
  public init(_ table: StoredTable, in file: StoreFile, of instance: String) {
    (self.file, self.table, self.instance) = (file, table, instance)
  }

  /// The name of the column with the rows' numbers.
  public var numberColumn: String { table.number.name }

  /// An SQL condition that selects only this system's rows in a shared table.
  private var own: (sql: String, arguments: StatementArguments) {
    table.isShared ? ("instance = ?", [instance]) : ("TRUE", [])
  }

  // MARK: writing

  /// Writes a row, which is on the disk when this returns. A row with the number 0 is new and gets the next number.
  ///
  /// - Parameters:
  ///   - row: a value for each column.
  ///   - who: whether a person made the change, after which a snapshot is made sooner.
  /// - Returns: the number of the row.
  @discardableResult
  public func write(_ row: [StoredValue], by who: StoreFile.Unsaved) throws(StoreError) -> Int64 {
    precondition(row.count == table.columns.count, "\(table.name): a row has a value for each column")
    return try file.write("keeping a row of \(table.name)", by: who) { database in
      let place = table.columns.firstIndex(of: table.number)!
      var number: Int64 = if case .integer(let number) = row[place] { number } else { 0 }
      if number <= 0 { number = try last(database) + 1 }
      var values = zip(table.columns, row).map { $0.fitted($1).database }
      values[place] = number.databaseValue
      try SealedRow.write((table.isShared ? [instance.databaseValue] : []) + values, into: table.name, in: database)
      return number
    }
  }

  /// Sets a column to the value in each row in which it is NULL.
  public func fill(_ column: String, with value: StoredValue) throws(StoreError) {
    guard let place = table.columns.firstIndex(where: { $0.name == column }) else { return }
    let empty = "\(own.sql) AND \(table.columns[place].quoted) IS NULL"
    let isDue = try file.read("looking for open rows of \(table.name)") { database in
      try Bool.fetchOne(
        database, sql: "SELECT EXISTS (SELECT 1 FROM \(table.quoted) WHERE \(empty))", arguments: own.arguments)
        ?? false
    }
    guard isDue else { return }
    try file.write("closing rows of \(table.name)", by: .byMachine) { database in
      let rows = try Row.fetchAll(
        database, sql: "SELECT * FROM \(table.quoted) WHERE \(empty)", arguments: own.arguments)
      for row in rows {
        var values = table.columns.map { row[$0.name] as DatabaseValue }
        values[place] = table.columns[place].fitted(value).database
        try SealedRow.write(
          (table.isShared ? [row["instance"] as DatabaseValue] : []) + values, into: table.name, in: database)
      }
    }
  }

  private func last(_ database: Database) throws -> Int64 {
    try Int64.fetchOne(
      database, sql: "SELECT ifnull(max(\(table.number.quoted)), 0) FROM \(table.quoted) WHERE \(own.sql)",
      arguments: own.arguments) ?? 0
  }

  // MARK: reading

  /// Returns the row with a number, or `nil` if there is no such row.
  public func row(_ number: Int64) throws(StoreError) -> [StoredValue]? {
    try file.read("reading \(table.name)") { database in
      try Row.fetchOne(
        database, sql: "SELECT * FROM \(table.quoted) WHERE \(own.sql) AND \(table.number.quoted) = ?",
        arguments: own.arguments + [number]
      ).map(values)
    }
  }

  /// Returns a page of rows in the order of their numbers.
  public func page(_ query: Query) throws(StoreError) -> Page {
    precondition((1...10_000).contains(query.limit), "a page has 1…10,000 rows")
    // One row more than requested shows whether there is a next page.
    var rows = try file.read("reading \(table.name)") { database in
      var (conditions, arguments) = ([own.sql], own.arguments)
      func add(_ condition: String, _ value: Int64) {
        conditions.append(condition)
        arguments += [value]
      }
      if let time = table.time {
        if let since = query.since { add("\(time.quoted) >= ?", since.secondsSince1970) }
        if let until = query.until { add("\(time.quoted) < ?", until.secondsSince1970) }
      }
      if let after = query.after { add("\(table.number.quoted) \(query.isNewestFirst ? "<" : ">") ?", after) }
      arguments += [query.limit + 1]
      return try Row.fetchAll(
        database,
        sql: """
          SELECT * FROM \(table.quoted) WHERE \(conditions.joined(separator: " AND "))
          ORDER BY \(table.number.quoted) \(query.isNewestFirst ? "DESC" : "ASC") LIMIT ?
          """, arguments: arguments
      ).map(values)
    }
    guard rows.count > query.limit else { return (rows, nil) }
    rows.removeLast()
    return (rows, rows.last.map(number))
  }

  private func number(_ row: [StoredValue]) -> Int64 {
    if case .integer(let number) = row[table.columns.firstIndex(of: table.number)!] { number } else { 0 }
  }

  private func values(_ row: Row) -> [StoredValue] {
    table.columns.map { StoredValue(row[$0.name] as DatabaseValue) }
  }

  // MARK: pruning

  /// Removes the rows whose time is before an instant, except the last row, from whose number the numbering continues.
  ///
  /// - Returns: the number of removed rows.
  @discardableResult
  public func prune(before: WallInstant) throws(StoreError) -> Int {
    guard let time = table.time else { return 0 }
    return try remove("\(time.quoted) < ?", [before.secondsSince1970])
  }

  /// Removes the oldest rows beyond a number of rows to keep, at least one.
  ///
  /// - Returns: the number of removed rows.
  @discardableResult
  public func prune(beyond most: Int) throws(StoreError) -> Int {
    let count = try file.read("counting \(table.name)") { database in
      try Int.fetchOne(
        database, sql: "SELECT count(*) FROM \(table.quoted) WHERE \(own.sql)", arguments: own.arguments) ?? 0
    }
    guard count > max(1, most) else { return 0 }
    let excess = count - max(1, most)
    return try remove(
      """
      \(table.number.quoted) IN (SELECT \(table.number.quoted) FROM \(table.quoted) WHERE \(own.sql)
      ORDER BY \(table.number.quoted) LIMIT ?)
      """, own.arguments + [excess])
  }

  private func remove(_ condition: String, _ arguments: StatementArguments) throws(StoreError) -> Int {
    let old = try file.read("looking for old rows of \(table.name)") { database in
      try Bool.fetchOne(
        database, sql: "SELECT EXISTS (SELECT 1 FROM \(table.quoted) WHERE \(own.sql) AND \(condition))",
        arguments: own.arguments + arguments) ?? false
    }
    guard old else { return 0 }
    return try file.write("pruning \(table.name)", by: .byMachine) { database in
      try database.execute(
        sql: "DELETE FROM \(table.quoted) WHERE \(own.sql) AND \(condition) AND \(table.number.quoted) < ?",
        arguments: own.arguments + arguments + [try last(database)])
      return database.changesCount
    }
  }
}
