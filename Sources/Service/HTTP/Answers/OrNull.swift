/// A member of a JSON document that is written as null while its value is unknown, never left out.
@propertyWrapper
public struct OrNull<Value: Codable & Sendable>: Codable, Sendable {
  /// The value, or `nil`, which is written as null, while it is unknown.
  public var wrappedValue: Value?

  /// Wraps a value.
  ///
  /// - Parameter wrappedValue: `nil` while the value is unknown.
  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(wrappedValue)
  }
}

extension KeyedEncodingContainer {
  /// Encodes the member as the compiler's own `encode` would, but without a nested encoder and container, which would
  /// cost a quarter of a plant's document.
  public mutating func encode<Value>(_ member: OrNull<Value>, forKey key: Key) throws {
    if let value = member.wrappedValue { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }
}
