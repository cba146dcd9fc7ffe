import Logging
import Store
import Tactus
import WallTime
import Wire

/// A protocol for a system with tables in the program's store, which its desk writes and its routes show.
///
/// ```swift
/// enum Kettle: DeviceSystem, Keeps, Serves {
///   static var tables: [Table<Wiring>] {
///     Table("kettle_runs", Run.self, since: 1, number: \.number, time: \.start, keepDays: \.logDays)
///   }
/// }
/// ```
public protocol Keeps: DeviceSystem {
  /// All tables that any release has had. A table is never removed from the list.
  @DeclarationBuilder<Table<Wiring>> static var tables: [Table<Wiring>] { get }
}

/// A table of rows. A row is a plain struct with `Key`s, which define its columns with their ranges, its JSON, its CSV,
/// and the checks when a backup is restored. A column that may be empty is an optional property.
public struct Table<Wiring: Settings>: Sendable {
  let since: Int
  let row: ObjectIdentifier
  let stored: @Sendable (_ isShared: Bool) -> StoredTable
  let most: Int
  let keepDays: (@Sendable (Wiring) -> Int)?
  let shape: RowShape
  /// The column that is empty until the recorded event ends, with its value if the end was not recorded; `nil` if the table has no such column.
  private(set) var leftOpen: (column: String, value: StoredValue)?

  /// Declares a table that keeps a number of newest rows.
  ///
  /// - Parameters:
  ///   - name: the system's name, `_`, and lower-case letters, digits or `_`: `kettle_runs`. Neither the name nor the
  ///     row's keys may change once released; a later release may add keys, which are marked with `since`.
  ///   - since: the version of the store's format that introduced the table, at least 1; tables of a later release have
  ///     a later version.
  ///   - number: the property with the row's number, whose key is `Key.number`.
  ///   - most: the maximum number of rows that are kept, at least 1.
  public init<Row: Settings>(
    _ name: String, _ row: Row.Type, since: Int, number: WritableKeyPath<Row, Int> & Sendable, most: Int = 100_000
  ) {
    self.init(name, row, since: since, number: number, timed: nil, keepDays: nil, most: most)
  }

  /// Declares a table that keeps the rows of a number of days, and of these at most a number of newest rows.
  ///
  /// - Parameters:
  ///   - time: the property with the instant that determines the age of a row.
  ///   - keepDays: the property with the number of days for which rows are kept. No row is removed by age while the
  ///     clock is not trusted.
  public init<Row: Settings>(
    _ name: String, _ row: Row.Type, since: Int, number: WritableKeyPath<Row, Int> & Sendable,
    time: KeyPath<Row, WallInstant> & Sendable, keepDays: KeyPath<Wiring, Int> & Sendable, most: Int = 100_000
  ) {
    self.init(
      name, row, since: since, number: number, timed: Row.name(of: time), keepDays: { $0[keyPath: keepDays] },
      most: most)
  }

  /// Returns the same table for rows that record something which lasts until a property has a value. A row that lacks it at the start was left open
  /// by a program that died, and gets this value before the first new row is written.
  ///
  /// ```swift
  /// Table("kettle_runs", Run.self, …).leftOpen(\Run.end, is: "interrupted")
  /// ```
  ///
  /// - Parameter end: a property of the table's row.
  public func leftOpen<Row: Settings, Value: Plain>(_ end: KeyPath<Row, Value?>, is value: Value) -> Table {
    declared(ObjectIdentifier(Row.self) == row, "\(Row.self) is no row of this table")
    var table = self
    table.leftOpen = (Row.name(of: end), StoredValue(value.plain))
    return table
  }

  private init<Row: Settings>(
    _ name: String, _ row: Row.Type, since: Int, number: WritableKeyPath<Row, Int> & Sendable, timed: String?,
    keepDays: (@Sendable (Wiring) -> Int)?, most: Int
  ) {
    declared(since >= 1 && most >= 1, "\(name): its first release and the most of its rows are 1 or more")
    (self.since, self.row, self.most, self.keepDays) = (since, ObjectIdentifier(row), most, keepDays)
    let columns = Row.keys.map(\.column)
    declared(
      columns.allSatisfy { $0.since ?? .max > since }, "\(name): a column is added after its table was made")
    let numbered = Row.name(of: number)
    stored = { StoredTable(name, columns: columns, number: numbered, time: timed, isShared: $0) }
    shape = RowShape(row)
  }
}

/// The description of a table's rows without their type, for its history, its CSV and its documentation.
struct RowShape: Sendable {
  let columns: [String]
  let schemas: [JSONValue.Member]
  let json: @Sendable ([StoredValue]) -> JSONValue
  let texts: @Sendable ([StoredValue]) -> [String]

  init<Row: Settings>(_: Row.Type) {
    columns = Row.keys.map(\.member)
    schemas = Row.memberSchemas
    json = { .object(Row($0).members) }
    texts = { row in
      Row(row).members.map { member in
        switch member.value {
        case .null: ""
        case .text(let text): text.csvText
        case .number(let digits): digits
        case .boolean(let value): "\(value)"
        case .list, .object: ""
        }
      }
    }
  }
}

extension Settings {
  /// Returns the name of the key that sets a property. Passing a property without a key is a programming error and
  /// traps.
  static func name(of property: PartialKeyPath<Self>) -> String {
    key(of: property).name
  }
}

extension Keeps {
  /// The tables as the store has them, each with the format version that introduced it.
  static var storedTables: [(since: Int, table: StoredTable)] {
    tables.map { ($0.since, $0.stored(Self.self is any Several.Type)) }
  }
}

extension DeviceSystem {
  /// The use of the store by a declared system: its tables, and its kept fields and settings; `nil` if it has none of
  /// these.
  static var declaredKeeping: Keeping? {
    if let keeping = self as? any KeepsOwn.Type { return keeping.keeping }
    let tables = (Self.self as? any Keeps.Type)?.storedTables ?? []
    let keepsFields = fields.contains(where: \.isKept)
    let keepsValues = keepsFields || KeptRules<Self>.isNeeded
    guard !tables.isEmpty || keepsValues else { return nil }
    let prefix = name.replacing("-", with: "_") + "_"
    declared(
      tables.allSatisfy { $0.table.name.hasPrefix(prefix) }, "\(name): its tables' names begin with \(prefix)")
    let steps = Set(tables.flatMap { [$0.since] + $0.table.laterSteps }).sorted().map { step in
      StoreSystem.Migration(name: "\(name).\(step)") { database in
        for (since, table) in tables where since <= step {
          if since == step { try table.make(database) } else { try table.widen(to: step, database) }
        }
      }
    }
    return Keeping(
      tables: StoreSystem(
        contents: tables.map { $0.table.content(String($0.table.name.dropFirst(prefix.count))) }
          + (keepsValues ? [KeptValues.content(of: name)] : []),
        migrations: steps + (keepsValues ? [KeptValues.migration(of: name)] : []),
        restore: { database in for (_, table) in tables { try table.restore(database) } }), withoutIt: nil)
  }
}

/// A protocol for a system with tables that are older than `Table` or whose columns differ from those of a row. Such a
/// system has no kept fields.
public protocol KeepsOwn: DeviceSystem {
  /// The tables, and the functions that do not work without them.
  static var keeping: Keeping { get }
  /// Changes the state before the first tick by what the tables say, which then becomes `mailbox.initialState`; by default it does nothing. Called on the
  /// main thread; may wait for the disk. Reading fails if the store could not be opened.
  static func resume(_ state: inout State, _ store: StoreFile, _ logger: Logger)
}

extension DeskMaterial where System: KeepsOwn {
  /// The program's store.
  public var storeFile: StoreFile {
    guard let file else { preconditionFailure("\(name): a system that keeps something has the store") }
    return file
  }
}
