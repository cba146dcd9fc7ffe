/// A JSON value in a payload: what an add's list of sensors and an extended edit carry.
///
/// Read as Python does, which the app's host was written in: of a repeated key the last counts. Bounded: at most 8 deep, and no longer than a message. Allocates: not for ticks.
public enum PlantJSON: Sendable, Hashable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([PlantJSON])
  /// Of a repeated key the last counts.
  case object([String: PlantJSON])

  /// Nil unless `text` is one JSON value (RFC 8259) with nothing but white space around it.
  public init?(_ text: String) {
    var parser = PlantJSONParser(text)
    guard let value = parser.document() else { return nil }
    self = value
  }
}

private struct PlantJSONParser {
  private let bytes: [UInt8]
  private var index = 0
  private static let deepest = 8

  init(_ text: String) { bytes = Array(text.utf8) }

  mutating func document() -> PlantJSON? {
    guard let value = value(depth: 0) else { return nil }
    skipWhiteSpace()
    return index == bytes.count ? value : nil
  }

  /// The end reads as NUL, which is allowed nowhere.
  private var byte: UInt8 { index < bytes.count ? bytes[index] : 0 }

  private mutating func skipWhiteSpace() {
    while byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { index += 1 }
  }

  private mutating func skip(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard index + count <= bytes.count else { return false }
    for offset in 0..<count where bytes[index + offset] != text.utf8Start[offset] { return false }
    index += count
    return true
  }

  private mutating func value(depth: Int) -> PlantJSON? {
    guard depth <= Self.deepest else { return nil }
    skipWhiteSpace()
    switch byte {
    case UInt8(ascii: "{"): return object(depth: depth)
    case UInt8(ascii: "["): return array(depth: depth)
    case UInt8(ascii: "\""): return string().map(PlantJSON.string)
    case UInt8(ascii: "t"): return skip("true") ? .bool(true) : nil
    case UInt8(ascii: "f"): return skip("false") ? .bool(false) : nil
    case UInt8(ascii: "n"): return skip("null") ? .null : nil
    default: return number()
    }
  }

  private mutating func array(depth: Int) -> PlantJSON? {
    index += 1
    var elements: [PlantJSON] = []
    skipWhiteSpace()
    if skip("]") { return .array(elements) }
    while true {
      guard let element = value(depth: depth + 1) else { return nil }
      elements.append(element)
      skipWhiteSpace()
      if skip("]") { return .array(elements) }
      guard skip(",") else { return nil }
    }
  }

  private mutating func object(depth: Int) -> PlantJSON? {
    index += 1
    var members: [String: PlantJSON] = [:]
    skipWhiteSpace()
    if skip("}") { return .object(members) }
    while true {
      skipWhiteSpace()
      guard byte == UInt8(ascii: "\""), let key = string() else { return nil }
      skipWhiteSpace()
      guard skip(":"), let value = value(depth: depth + 1) else { return nil }
      members[key] = value
      skipWhiteSpace()
      if skip("}") { return .object(members) }
      guard skip(",") else { return nil }
    }
  }

  private mutating func number() -> PlantJSON? {
    let start = index
    _ = skip("-")
    if !skip("0") {
      guard digits() else { return nil }
    }
    if skip(".") {
      guard digits() else { return nil }
    }
    if skip("e") || skip("E") {
      _ = skip("+") || skip("-")
      guard digits() else { return nil }
    }
    guard let value = Double(String(decoding: bytes[start..<index], as: UTF8.self)), value.isFinite else { return nil }
    return .number(value)
  }

  private mutating func digits() -> Bool {
    let start = index
    while byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { index += 1 }
    return index > start
  }

  private mutating func string() -> String? {
    index += 1
    var text: [UInt8] = []
    while index < bytes.count {
      let next = bytes[index]
      index += 1
      switch next {
      case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"):
        guard let scalar = escape() else { return nil }
        text.append(contentsOf: Array(String(scalar).utf8))
      case 0..<0x20: return nil
      default: text.append(next)
      }
    }
    return nil
  }

  private mutating func escape() -> Unicode.Scalar? {
    let next = byte
    index += 1
    switch next {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(next)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      guard let unit = fourDigits() else { return nil }
      guard (0xD800..<0xDC00).contains(unit) else { return Unicode.Scalar(unit) }
      guard skip("\\u"), let low = fourDigits(), (0xDC00..<0xE000).contains(low) else { return nil }
      return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
    default: return nil
    }
  }

  private mutating func fourDigits() -> UInt32? {
    guard index + 4 <= bytes.count else { return nil }
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = Character(Unicode.Scalar(bytes[index])).hexDigitValue else { return nil }
      value = value << 4 | UInt32(digit)
      index += 1
    }
    return value
  }
}
