@_spi(FromOutside) import Conversions

/// Writes the fields of a video message. Numbers are little-endian; texts and bytes are preceded by their count.
struct VideoFieldWriter {
  private(set) var bytes: [UInt8] = []

  mutating func add(_ value: some FixedWidthInteger) {
    var rest = UInt64(truncatingIfNeeded: value)
    for _ in 0..<type(of: value).bitWidth / 8 {
      bytes.append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }

  mutating func add(_ value: Bool) { bytes.append(value ? 1 : 0) }

  mutating func add(_ text: String) { add(Array(text.utf8)) }

  mutating func add(_ texts: [String]) {
    add(UInt16(clamping: min(texts.count, Int(UInt16.max))))
    for text in texts.prefix(Int(UInt16.max)) { add(text) }
  }

  mutating func add(_ value: [UInt8]) {
    add(UInt32(clamping: value.count))
    bytes += value
  }
}

/// Reads the fields of a message written by `VideoFieldWriter`. Counts are checked, so that any received bytes are safe to read.
struct VideoFieldReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  mutating func integer<Value: FixedWidthInteger>(_ field: String) throws(VideoMessageError) -> Value {
    let count = Value.bitWidth / 8
    guard rest.count >= count else { throw .truncated(field) }
    defer { rest = rest.dropFirst(count) }
    return Value(truncatingIfNeeded: rest.prefix(count).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  mutating func boolean(_ field: String) throws(VideoMessageError) -> Bool {
    let byte: UInt8 = try integer(field)
    guard byte <= 1 else { throw .invalid(field) }
    return byte == 1
  }

  mutating func bytes(_ field: String) throws(VideoMessageError) -> [UInt8] {
    let count: UInt32 = try integer(field)
    guard rest.count >= Int(count) else { throw .truncated(field) }
    defer { rest = rest.dropFirst(Int(count)) }
    return Array(rest.prefix(Int(count)))
  }

  mutating func text(_ field: String) throws(VideoMessageError) -> String {
    guard let text = String(validating: try bytes(field), as: UTF8.self) else { throw .invalid(field) }
    return text
  }

  mutating func texts(_ field: String) throws(VideoMessageError) -> [String] {
    let count: UInt16 = try integer(field)
    var texts: [String] = []
    for _ in 0..<count { texts.append(try text(field)) }
    return texts
  }

  mutating func word<Value: RawRepresentable<UInt8>>(_ field: String) throws(VideoMessageError) -> Value {
    guard let value = Value(rawValue: try integer(field)) else { throw .invalid(field) }
    return value
  }

  /// Checks that no bytes are left. The function is to be called after the last field.
  func end() throws(VideoMessageError) {
    guard rest.isEmpty else { throw .trailing(rest.count) }
  }
}
