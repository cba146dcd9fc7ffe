import GRDB

/// One value of a row, as SQLite has it.
public enum StoredValue: Sendable, Hashable {
  /// Unknown, or not given.
  case nothing
  /// A whole number; a yes or no is 1 or 0, an instant its seconds since 1970.
  case integer(Int64)
  /// A finite number.
  case real(Double)
  /// A text or a word.
  case text(String)

  var database: DatabaseValue {
    switch self {
    case .nothing: .null
    case .integer(let value): value.databaseValue
    case .real(let value): value.databaseValue
    case .text(let value): value.databaseValue
    }
  }

  /// Of another kind than those that tables of rows have: nothing.
  init(_ value: DatabaseValue) {
    switch value.storage {
    case .int64(let value): self = .integer(value)
    case .double(let value): self = .real(value)
    case .string(let value): self = .text(value)
    case .null, .blob: self = .nothing
    }
  }
}

/// One column of a table of rows: its name, and what its values may be.
public struct StoredColumn: Sendable, Hashable {
  /// What a value may be.
  public enum Kind: Sendable, Hashable {
    /// A whole number of a range.
    case integer(ClosedRange<Int64>)
    /// A finite number of a range.
    case real(ClosedRange<Double>)
    /// Any text.
    case text
    /// One of these words.
    case word([String])
  }

  /// Lower-case letters, digits and `_`.
  public let name: String
  let kind: Kind
  let mayBeNothing: Bool

  /// - Parameters:
  ///   - name: lower-case letters, digits and `_`; never `seal` or `instance`, which every table has for itself.
  ///   - mayBeNothing: whether a value may be unknown.
  public init(_ name: String, _ kind: Kind, mayBeNothing: Bool) {
    precondition(!["seal", "instance"].contains(name), "\(name) is a column that every table has for itself")
    (self.name, self.kind, self.mayBeNothing) = (name, kind, mayBeNothing)
  }

  var quoted: String { name.quotedDatabaseIdentifier }

  /// `"minutes" INTEGER NOT NULL`
  var declaration: String {
    let type =
      switch kind {
      case .integer: "INTEGER"
      case .real: "REAL"
      case .text, .word: "TEXT"
      }
    return "\(quoted) \(type)\(mayBeNothing ? "" : " NOT NULL")"
  }

  /// An SQL condition that every value that makes sense meets.
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

  /// A value as this column has it: a whole number of a column of numbers is a number.
  func fitted(_ value: StoredValue) -> StoredValue {
    if case (.integer(let whole), .real) = (value, kind) { .real(Double(whole)) } else { value }
  }
}
