extension JSONValue {
  /// The value as JSON text; reads back as the same value.
  package var bytes: [UInt8] {
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
}
