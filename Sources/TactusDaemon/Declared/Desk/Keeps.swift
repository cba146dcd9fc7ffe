import Store
import Tactus
import WallTime
import Wire

/// A system with tables in the program's store, which its desk writes and its routes show.
///
///     enum Kettle: DeviceSystem, Keeps, Serves {
///       static var tables: [Table<Wiring>] {
///         Table("kettle_runs", Run.self, since: 1, number: \.number, time: \.start, keepDays: \.logDays)
///       }
///     }
public protocol Keeps: DeviceSystem {
  /// Every table that a release has had: none ever goes.
  @DeclarationBuilder<Table<Wiring>> static var tables: [Table<Wiring>] { get }
}

/// A table of rows. A row is a plain struct with `Key`s: its columns with their ranges, its JSON, its CSV and the check of a restored backup come
/// from them. A property that the row may lack is an optional.
public struct Table<Wiring: Settings>: Sendable {
  let since: Int
  let row: ObjectIdentifier
  let stored: @Sendable (_ isShared: Bool) -> StoredTable
  let most: Int
  let keepDays: (@Sendable (Wiring) -> Int)?
  let shape: RowShape

  /// Rows of which the newest are kept.
  ///
  /// - Parameters:
  ///   - name: the system's name, `_`, and lower-case letters, digits or `_`: `kettle_runs`. Neither it nor the row's keys change once released.
  ///   - since: the step of the store's format that has brought it, 1…: tables of a later release have a later one.
  ///   - number: the property with the row's number, whose key is `Key.number`.
  ///   - most: rows that are kept at most, 1….
  public init<Row: Settings>(
    _ name: String, _ row: Row.Type, since: Int, number: WritableKeyPath<Row, Int> & Sendable, most: Int = 100_000
  ) {
    self.init(name, row, since: since, number: number, timed: nil, keepDays: nil, most: most)
  }

  /// Rows of which those of some days are kept, and of these the newest.
  ///
  /// - Parameters:
  ///   - time: the property with the instant by which rows are old.
  ///   - keepDays: the key with the days for which rows are kept. Nothing is removed by age while the clock is not sure.
  public init<Row: Settings>(
    _ name: String, _ row: Row.Type, since: Int, number: WritableKeyPath<Row, Int> & Sendable,
    time: KeyPath<Row, WallInstant> & Sendable, keepDays: KeyPath<Wiring, Int> & Sendable, most: Int = 100_000
  ) {
    self.init(
      name, row, since: since, number: number, timed: Row.name(of: time), keepDays: { $0[keyPath: keepDays] },
      most: most)
  }

  private init<Row: Settings>(
    _ name: String, _ row: Row.Type, since: Int, number: WritableKeyPath<Row, Int> & Sendable, timed: String?,
    keepDays: (@Sendable (Wiring) -> Int)?, most: Int
  ) {
    precondition(since >= 1 && most >= 1, "\(name): its first release and the most of its rows are 1 or more")
    (self.since, self.row, self.most, self.keepDays) = (since, ObjectIdentifier(row), most, keepDays)
    let columns = Row.keys.map(\.column)
    let numbered = Row.name(of: number)
    stored = { StoredTable(name, columns: columns, number: numbered, time: timed, isShared: $0) }
    shape = RowShape(row)
  }
}

/// What is known of a table's rows without their type: for its history, its CSV and its description.
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
  /// The name of the key of a property; a property without a key is a bug of the caller's.
  static func name(of property: PartialKeyPath<Self>) -> String {
    key(of: property).name
  }
}

extension Keeps {
  /// Its tables as the store has them, with the step that has brought each.
  static var storedTables: [(since: Int, table: StoredTable)] {
    tables.map { ($0.since, $0.stored(Self.self is any Several.Type)) }
  }
}
