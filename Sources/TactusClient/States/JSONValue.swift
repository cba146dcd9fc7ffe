import Foundation

/// Any JSON: the values of a system that this client has no type of its own for.
public enum JSONValue: Sendable, Hashable, Codable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number.
  case number(Double)
  /// A string.
  case string(String)
  /// An array.
  case array([JSONValue])
  /// An object.
  case object([String: JSONValue])

  /// Decodes any JSON.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  /// Encodes it as the JSON that it is. A whole number is written without a fraction.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .number(let value):
      if let whole = Int64(exactly: value) { try container.encode(whole) } else { try container.encode(value) }
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }

  /// The number, if it is one.
  public var number: Double? { if case .number(let value) = self { value } else { nil } }
  /// The string, if it is one.
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  /// The boolean, if it is one.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The array, if it is one.
  public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
  /// The member of an object; `nil` if it has none of that name, or if this is no object.
  public subscript(name: String) -> JSONValue? { if case .object(let members) = self { members[name] } else { nil } }

  /// The value in a word or two, for people; empty for `null`.
  public var text: String {
    switch self {
    case .null: ""
    case .bool(let value): value ? "yes" : "no"
    case .number(let value): Int64(exactly: value).map(String.init) ?? String(value)
    case .string(let value): value
    case .array(let value): value.map(\.text).joined(separator: ", ")
    case .object(let value):
      value.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.text)" }.joined(separator: ", ")
    }
  }
}

/// A word of the daemon's, as the state of a system. Words that this client does not know yet are kept as they came.
public protocol DaemonWord: RawRepresentable, Codable, Hashable, Sendable, ExpressibleByStringLiteral
where RawValue == String {
  /// The words that this client knows. A test compares them with the daemon's description of itself.
  static var known: [Self] { get }

  /// Takes any word.
  init(rawValue: String)
}

extension DaemonWord {
  /// Takes any word.
  public init(stringLiteral value: String) { self.init(rawValue: value) }
}
