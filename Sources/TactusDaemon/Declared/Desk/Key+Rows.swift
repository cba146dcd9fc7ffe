@_spi(FromOutside) import Conversions
import Service
import Store
import WallTime
import Wire

// A key that is not in the file: a member of a body, a parameter of a query, or a column of a table.

extension Key {
  /// Declares an instant of the wall clock as a column of a table or a member of a body. JSON and CSV use RFC 3339:
  /// `2026-11-26T18:30:00Z`.
  public init(_ name: String, _ path: WritableKeyPath<Group, WallInstant> & Sendable, _ meaning: String) {
    self.init(
      name, path, .integer(1...253_402_300_799), .none, nil, meaning,
      value: { .integer(Int(clamping: $0.secondsSince1970)) },
      make: { if case .integer(let seconds) = $0 { WallInstant(secondsSince1970: Int64(seconds)) } else { nil } })
    isInstant = true
  }

  /// Declares the number of a row, which the table assigns, starting at 1. A new row has the number 0.
  public static func number(_ path: WritableKeyPath<Group, Int> & Sendable) -> Key {
    Key("number", path, in: 1...9_007_199_254_740_992, "Number of the row, from 1.")
  }

  /// The name of the key in JSON, in CSV and in a query, such as `holdMinutes` for `hold_minutes`.
  var member: String {
    let words = name.split(separator: "_")
    return words.dropFirst().reduce(String(words.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
  }

  /// Returns whether the key accepts a value. An empty text is not accepted.
  func allows(_ value: ConfigValue) -> Bool {
    switch (kind, value) {
    case (.integer(let range), .integer(let value)): range.contains(value)
    case (.number(let range), .number(let value)): range.contains(value)
    case (.number(let range), .integer(let value)): range.contains(Double(value))
    case (.choice(let words), .text(let word)): words.contains(word)
    case (.boolean, .boolean), (.alwaysTrue, .boolean(true)), (.textOrNothing, .text), (_, .integers), (_, .texts): true
    case (_, .text(let text)): ScalarReader.value(text, as: kind) != nil
    default: false
    }
  }

  /// Whether the file or a request must contain the key, because the key does not accept the property's initial value:
  /// an empty text, or a number out of its range.
  var isRequired: Bool { standard.map { !allows($0) } ?? false }

  /// The reader for the key in the body of a request.
  var bodyKind: JSONKind<ConfigValue> {
    guard isInstant else { return kind.json }
    return JSONKind("an instant like 2026-05-01T00:00:00Z") { value in
      guard let text = value.string else { return nil }
      return Self.instant(text)
    }
  }

  /// Returns the value of a text in a query or a path, or `nil` if the text is not of the key's kind.
  func value(_ text: String) -> ConfigValue? { isInstant ? Self.instant(text) : ScalarReader.value(text, as: kind) }

  private static func instant(_ text: String) -> ConfigValue? {
    let instant = try? QueryReader(["at": text], names: ["at"]).instant("at")
    return instant.map { .integer(Int(clamping: $0.secondsSince1970)) }
  }

  /// Returns the value as JSON for a document.
  func json(_ group: Group) -> JSONValue {
    if let items { return items.json(group) }
    guard let value = read(group) else { return .null }
    if isInstant, case .integer(let seconds) = value {
      return .text(WallTimeText.text(WallInstant(secondsSince1970: Int64(seconds))))
    }
    return value.json
  }

  /// The JSON Schema of the value.
  var schema: JSONValue {
    if let items { return items.schema() }
    guard isInstant else { return kind.schema(meaning, unit: unit) }
    return .object(["type": .text("string"), "format": .text("date-time"), "description": .text(meaning)])
  }

  // MARK: columns

  var column: StoredColumn {
    declared(self.kind != .secret, "\(name): a secret is kept in no table")
    let kind: StoredColumn.Kind =
      switch kind {
      case .integer(let range): .integer(Int64(range.lowerBound)...Int64(range.upperBound))
      case .boolean, .alwaysTrue: .integer(0...1)
      case .number(let range): .real(range)
      case .choice(let words): .word(words)
      default: .text
      }
    return StoredColumn(
      name, kind, mayBeNothing: standard == nil, since: addedIn, standard: addedIn == nil ? .nothing : stored(Group()))
  }

  func stored(_ group: Group) -> StoredValue { StoredValue(read(group)) }

  /// Sets the property to a value from the table if the key accepts the value.
  func set(_ stored: StoredValue, into group: inout Group) {
    // The property keeps its initial value if the column is empty or has an empty text.
    guard let value = stored.value(as: kind), allows(value) else { return }
    take(value, &group)
  }
}

extension Settings {
  /// Creates the value from a row of a table.
  init(_ row: [StoredValue]) {
    self.init()
    for (key, value) in zip(Self.keys, row) { key.set(value, into: &self) }
  }

  /// The values of the row, one for each column.
  var storedRow: [StoredValue] { Self.keys.map { $0.stored(self) } }

  /// The members of the JSON object for a document.
  var members: [JSONValue.Member] { Self.keys.map { JSONValue.Member(name: $0.member, value: $0.json(self)) } }

  /// The JSON Schemas of the members.
  static var memberSchemas: [JSONValue.Member] {
    keys.map { key in
      JSONValue.Member(
        name: key.member, value: key.standard == nil && key.items == nil ? key.schema.orNull : key.schema)
    }
  }
}
