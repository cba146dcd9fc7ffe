import GRDB

/// A value of a row, in SQLite's types.
public enum StoredValue: Sendable, Hashable {
  /// The value is unknown or was not given.
  case nothing
  /// A whole number. A boolean is 1 or 0, and an instant is its seconds since 1970.
  case integer(Int64)
  /// A finite number.
  case real(Double)
  /// A text, which may be one of several words.
  case text(String)

  var database: DatabaseValue {
    switch self {
    case .nothing: .null
    case .integer(let value): value.databaseValue
    case .real(let value): value.databaseValue
    case .text(let value): value.databaseValue
    }
  }

  /// Converts a value of SQLite. A value of a kind that tables of rows do not have becomes `nothing`.
  init(_ value: DatabaseValue) {
    switch value.storage {
    case .int64(let value): self = .integer(value)
    case .double(let value): self = .real(value)
    case .string(let value): self = .text(value)
    case .null, .blob: self = .nothing
    }
  }
}

/// A column of a table of rows: its name and its permitted values.
public struct StoredColumn: Sendable, Hashable {
  /// The kind and range of a column's values.
  public enum Kind: Sendable, Hashable {
    /// A whole number in a range.
    case integer(ClosedRange<Int64>)
    /// A finite number in a range.
    case real(ClosedRange<Double>)
    /// A text without restrictions.
    case text
    /// A text that is one of these words.
    case word([String])
  }

  /// The name of the column: lower-case letters, digits and `_`.
  public let name: String
  let kind: Kind
  let mayBeNothing: Bool
  /// The version of the store's format that added the column to its table, or `nil` if the table was created with it.
  public let since: Int?
  /// The value in rows that were written before the column was added.
  let standard: StoredValue

  /// Creates a column from its name and its permitted values.
  ///
  /// - Parameters:
  ///   - name: lower-case letters, digits and `_`; not `seal` or `instance`, which every table may have itself.
  ///   - mayBeNothing: whether a value may be unknown.
  ///   - since: the version of the store's format that added the column, or `nil` if the table was created with it.
  ///   - standard: the value in rows that were written before.
  public init(_ name: String, _ kind: Kind, mayBeNothing: Bool, since: Int? = nil, standard: StoredValue = .nothing) {
    precondition(!["seal", "instance"].contains(name), "\(name) is a column that every table has for itself")
    precondition(since == nil || mayBeNothing || standard != .nothing, "\(name): rows of before need a value")
    (self.name, self.kind, self.mayBeNothing, self.since) = (name, kind, mayBeNothing, since)
    self.standard = standard
  }

  var quoted: String { name.quotedDatabaseIdentifier }

  /// The SQL declaration of the column, such as `"minutes" INTEGER NOT NULL`.
  var declaration: String {
    let type =
      switch kind {
      case .integer: "INTEGER"
      case .real: "REAL"
      case .text, .word: "TEXT"
      }
    return "\(quoted) \(type)\(mayBeNothing ? "" : " NOT NULL")"
  }

  /// An SQL condition that every valid value meets.
  var sense: String {
    let condition =
      switch kind {
      case .integer(let range): "\(quoted) BETWEEN \(range.lowerBound) AND \(range.upperBound)"
      case .real(let range): "\(quoted) BETWEEN \(range.lowerBound) AND \(range.upperBound)"
      case .text: "typeof(\(quoted)) = 'text'"
      case .word(let words):
        "\(quoted) IN (\(words.map { "'\($0.replacing("'", with: "''"))'" }.joined(separator: ", ")))"
      }
    return mayBeNothing ? "(\(quoted) IS NULL OR \(condition))" : "(\(condition))"
  }

  /// Returns a value in the column's kind: a whole number becomes a real number in a column of real numbers.
  func fitted(_ value: StoredValue) -> StoredValue {
    if case (.integer(let whole), .real) = (value, kind) { .real(Double(whole)) } else { value }
  }
}
