/// A JSON value as received. Members keep their order; of a text that was read each appears once.
public indirect enum JSONValue: Sendable, Equatable {
  /// The literal `null`.
  case null
  /// The literal `true` or `false`.
  case boolean(Bool)
  /// As written: which number it is depends on what was expected.
  case number(String)
  /// A string, without quotation marks and escapes.
  case text(String)
  /// An array.
  case list([JSONValue])
  /// An object. The parser refuses a name that comes twice.
  case object([Member])

  /// One member of an object.
  public struct Member: Sendable, Equatable {
    /// Without quotation marks and escapes; may be empty.
    public let name: String
    /// What follows the colon; `.null` is a value, too.
    public let value: JSONValue

    /// - Parameter name: without quotation marks and escapes; at most once in an object.
    public init(name: String, value: JSONValue) { (self.name, self.value) = (name, value) }
  }
}

extension JSONValue {
  /// For error messages: what came, at most 40 characters of it, without control characters.
  public var summary: String {
    switch self {
    case .null: "null"
    case .boolean(let value): String(value)
    case .number(let digits): Self.shortened(digits)
    case .text(let text): "\"\(Self.shortened(text))\""
    case .list(let items): items.isEmpty ? "an empty list" : "a list of \(items.count)"
    case .object: "an object"
    }
  }

  /// The first 40 characters, control characters replaced by U+FFFD, followed by `…` if the text is longer.
  public static func shortened(_ text: String) -> String {
    var result = ""
    for character in text.prefix(40) {
      let isPlain = character.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
      result.append(isPlain ? character : "\u{FFFD}")
    }
    return text.count > 40 ? result + "…" : result
  }
}
