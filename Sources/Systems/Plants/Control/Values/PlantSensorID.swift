@_spi(FromOutside) import Conversions

/// A sensor's name for clients: 1…32 of `a–z 0–9 . _ -` without `--`; the name of a probe on I2C is its address, for example `0x36`.
public struct PlantSensorID: Sendable, Hashable, Comparable, Codable {
  public let text: String

  /// Converts the text to lower case without surrounding spaces; returns `nil` if it is not a valid name.
  public init?(_ text: String) {
    let name = text.trimmed.lowercased()
    let isAllowed = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "-"):
        true
      default: false
      }
    }
    guard (1...32).contains(name.utf8.count), isAllowed, !name.holdsPair("-") else { return nil }
    self.text = name
  }

  public static func < (left: Self, right: Self) -> Bool { left.text < right.text }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let id = Self(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a sensor's name")
    }
    self = id
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

extension PlantSensorID: CustomStringConvertible {
  public var description: String { text }
}

extension String {
  /// The text without spaces at both ends.
  var trimmed: String {
    var text = self[...]
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return String(text)
  }

  func holdsPair(_ character: Unicode.Scalar) -> Bool {
    var last: Unicode.Scalar?
    for scalar in unicodeScalars {
      if scalar == character, last == character { return true }
      last = scalar
    }
    return false
  }
}

/// A key of a JSON object, for dictionaries whose keys have a textual form.
struct TextKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ text: String) { stringValue = text }
  init?(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

extension PlantSensorID: CodingKeyRepresentable {
  public var codingKey: any CodingKey { TextKey(text) }

  public init?(codingKey: some CodingKey) { self.init(codingKey.stringValue) }
}

extension PlantID: CodingKeyRepresentable {
  public var codingKey: any CodingKey { TextKey(description) }

  public init?(codingKey: some CodingKey) {
    guard let number = UInt64(codingKey.stringValue) else { return nil }
    self.init(number)
  }
}
