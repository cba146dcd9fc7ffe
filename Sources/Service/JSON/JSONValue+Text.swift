import Wire

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
