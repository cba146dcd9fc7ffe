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

  /// The member of that name, or `nil` if it is missing or this value is not an object.
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
