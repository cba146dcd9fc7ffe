/// A JSON value as received. Members keep their order and appear once.
public indirect enum JSONValue: Sendable, Equatable {
  case null
  case boolean(Bool)
  /// As written: which number it is depends on what was expected.
  case number(String)
  case text(String)
  case list([JSONValue])
  case object([Member])

  public struct Member: Sendable, Equatable {
    public let name: String
    public let value: JSONValue

    public init(name: String, value: JSONValue) { (self.name, self.value) = (name, value) }
  }
}

extension JSONValue {
  /// For error messages: what came, in at most 40 characters, without control characters.
  var summary: String {
    switch self {
    case .null: "null"
    case .boolean(let value): String(value)
    case .number(let digits): Self.shortened(digits)
    case .text(let text): "\"\(Self.shortened(text))\""
    case .list(let items): items.isEmpty ? "an empty list" : "a list of \(items.count)"
    case .object: "an object"
    }
  }

  package static func shortened(_ text: String) -> String {
    var result = ""
    for character in text.prefix(40) {
      let isPlain = character.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
      result.append(isPlain ? character : "\u{FFFD}")
    }
    return text.count > 40 ? result + "…" : result
  }
}
