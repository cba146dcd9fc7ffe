@_spi(FromOutside) import Conversions

/// A JSON value. Members keep their order; in a value that was parsed each name occurs once.
public indirect enum JSONValue: Sendable, Equatable {
  /// The literal `null`.
  case null
  /// The literal `true` or `false`.
  case boolean(Bool)
  /// A number as written. Its type depends on the expected value.
  case number(String)
  /// A string, without quotation marks and escapes.
  case text(String)
  /// An array.
  case list([JSONValue])
  /// An object. The parser refuses a repeated name.
  case object([Member])

  /// One member of an object.
  public struct Member: Sendable, Equatable {
    /// The name, without quotation marks and escapes; it may be empty.
    public let name: String
    /// The value, which may be `.null`.
    public let value: JSONValue

    /// Creates a member from its name and its value.
    ///
    /// - Parameter name: the name without quotation marks and escapes, at most once in an object.
    public init(name: String, value: JSONValue) { (self.name, self.value) = (name, value) }
  }
}

extension JSONValue {
  /// The value as a whole number, or `nil` if it is not a number, has a fraction, or does not fit. JSON knows one kind of number, so `10`,
  /// `10.0` and `1e1` are the same; one that is not written in digits alone is whole up to ±2⁵³, beyond which a fraction would be lost.
  public var wholeNumber: Int? {
    guard case .number(let digits) = self else { return nil }
    if let number = Int(digits) { return number }
    guard let number = Double(digits), number.magnitude <= 9_007_199_254_740_992 else { return nil }
    return Int(exactly: number)
  }

  /// The value for error messages: at most 40 characters and 160 bytes, with invisible characters replaced.
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

  /// Returns at most the first 40 characters and 160 bytes, with invisible characters replaced by U+FFFD; `…` follows
  /// if the text is longer.
  public static func shortened(_ text: String) -> String {
    var result = ""
    var (characters, bytes) = (0, 0)
    for character in text {
      characters += 1
      bytes += character.utf8.count
      guard characters <= 40, bytes <= GivenName.mostBytes(ofCharacters: 40) else { return result + "…" }
      result.append(character.unicodeScalars.allSatisfy(GivenName.isPart) ? character : "\u{FFFD}")
    }
    return result
  }
}

/// Functions for JSON that is composed as text. They allocate, so they are not for ticks.
public enum JSONText {
  /// Returns `text` as a JSON string in quotation marks.
  public static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
