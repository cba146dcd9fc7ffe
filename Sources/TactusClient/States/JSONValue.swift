import Foundation

/// A JSON value, as in the state of a system for which this client has no type of its own.
public enum JSONValue: Sendable, Hashable, Codable {
  /// The value `null`.
  case null
  /// The value `true` or `false`.
  case bool(Bool)
  /// A value that is a number.
  case number(Double)
  /// A value that is a string.
  case string(String)
  /// A value that is an array.
  case array([JSONValue])
  /// A value that is an object.
  case object([String: JSONValue])

  /// Decodes any JSON value.
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

  /// Encodes the JSON value. A whole number is written without a fraction.
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

  /// The number, or `nil` if the value is not one.
  public var number: Double? { if case .number(let value) = self { value } else { nil } }
  /// The string, or `nil` if the value is not one.
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  /// The boolean, or `nil` if the value is not one.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The array, or `nil` if the value is not one.
  public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
  /// Returns the member with this name, or `nil` if there is none or the value is not an object.
  public subscript(name: String) -> JSONValue? { if case .object(let members) = self { members[name] } else { nil } }

  /// The value in a word or two for people, or empty for `null`.
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

/// A word of the daemon, such as the activity of a system. Words that this client does not know are kept.
public protocol DaemonWord: RawRepresentable, Codable, Hashable, Sendable, ExpressibleByStringLiteral
where RawValue == String {
  /// The words that this client knows. A test compares them with the daemon's own description.
  static var known: [Self] { get }

  /// Creates the value from any word.
  init(rawValue: String)
}

extension DaemonWord {
  /// Creates the value from any word.
  public init(stringLiteral value: String) { self.init(rawValue: value) }
}
