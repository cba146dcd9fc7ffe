@_spi(FromOutside) import Conversions

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
