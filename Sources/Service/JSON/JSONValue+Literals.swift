import Wire

/// JSON written as literals: `["type": "integer", "minimum": 0]`. Members keep their order.
extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByStringLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
  public init(dictionaryLiteral members: (String, JSONValue)...) {
    self = .object(members.map { Member(name: $0.0, value: $0.1) })
  }

  public init(arrayLiteral items: JSONValue...) { self = .list(items) }
  public init(stringLiteral text: String) { self = .text(text) }
  public init(integerLiteral number: Int) { self = .integer(number) }
  public init(booleanLiteral value: Bool) { self = .boolean(value) }

  /// Returns a number, written without fraction and exponent.
  public static func integer(_ value: Int) -> JSONValue { .number(String(value)) }

  /// Returns a number.
  ///
  /// - Parameter value: the number; a whole one is written without a fraction, one that is not finite as null.
  public static func decimal(_ value: Double) -> JSONValue {
    guard value.isFinite else { return .null }
    return .number(Int(exactly: value).map(String.init) ?? String(value))
  }
}

extension JSONValue {
  /// Reads JSON text as strictly as the service does. Returns `nil` if the text is not such JSON.
  public init?(json bytes: [UInt8]) {
    guard let value = try? JSONParser.parse(bytes) else { return nil }
    self = value
  }

  /// The member with the given name, or `nil` if it is missing or this value is not an object.
  public subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  /// The members of an object in their order; empty if this value is not an object.
  public var members: [Member] { if case .object(let members) = self { members } else { [] } }

  /// The items of a list; empty if this value is not a list.
  public var items: [JSONValue] { if case .list(let items) = self { items } else { [] } }

  /// The text, or `nil` if this value is not a text.
  public var string: String? { if case .text(let text) = self { text } else { nil } }

  /// Returns the value without the members of these names, at any depth.
  public func without(_ names: Set<String>) -> JSONValue {
    switch self {
    case .object(let members):
      .object(
        members.filter { !names.contains($0.name) }.map { Member(name: $0.name, value: $0.value.without(names)) })
    case .list(let items): .list(items.map { $0.without(names) })
    default: self
    }
  }

  /// Returns an object with the members of both objects, this one's first.
  public func adding(_ other: JSONValue) -> JSONValue { .object(members + other.members) }
}

extension JSONValue {
  /// The value as JSON text, which reads back as the same value.
  public var bytes: [UInt8] {
    switch self {
    case .null: Array("null".utf8)
    case .boolean(let value): Array((value ? "true" : "false").utf8)
    case .number(let digits): Array(digits.utf8)
    case .text(let text): encodeJSON(text)
    case .list(let items): Self.joined(items.map(\.bytes), "[", "]")
    case .object(let members):
      Self.joined(members.map { encodeJSON($0.name) + [UInt8(ascii: ":")] + $0.value.bytes }, "{", "}")
    }
  }

  private static func joined(_ parts: [[UInt8]], _ start: Unicode.Scalar, _ end: Unicode.Scalar) -> [UInt8] {
    [UInt8(ascii: start)] + parts.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: end)]
  }

  /// The value as JSON text in one line without spaces.
  public var compact: String { String(decoding: bytes, as: UTF8.self) }

  /// The value as JSON text for people: one member a line, indented by two spaces a level. A list of plain values stays
  /// on its line if it fits 100 columns.
  public var indented: String { indented(by: 0, after: 0) }

  private func indented(by depth: Int, after column: Int) -> String {
    let inner = String(repeating: "  ", count: depth + 1)
    func lines(_ parts: [String], _ start: String, _ end: String) -> String {
      start + "\n" + parts.map { inner + $0 }.joined(separator: ",\n") + "\n" + inner.dropLast(2) + end
    }
    switch self {
    case .list(let items) where !items.isEmpty:
      let isPlain = items.allSatisfy { $0.members.isEmpty && $0.items.isEmpty }
      let line = "[" + items.map(\.compact).joined(separator: ", ") + "]"
      if isPlain, column + line.count <= 100 { return line }
      return lines(items.map { $0.indented(by: depth + 1, after: inner.count) }, "[", "]")
    case .object(let members) where !members.isEmpty:
      let parts = members.map { member in
        let name = JSONValue.text(member.name).compact + ": "
        return name + member.value.indented(by: depth + 1, after: inner.count + name.count)
      }
      return lines(parts, "{", "}")
    default: return compact
    }
  }
}
