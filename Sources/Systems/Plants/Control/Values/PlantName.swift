import Wire

/// A plant's name: 1…15 characters that the protocol and its app can transmit.
///
/// Not allowed are `: ; | \`, `--`, a hyphen at either end, control characters, and `all`, which requests every plant.
public struct PlantName: Sendable, Hashable, Codable {
  /// The largest number of Unicode scalars, which is how the original host counts.
  public static let maximumLength = 15
  public let text: String

  /// Returns the text in the form used for names: without spaces at both ends, and with the typographic apostrophe and quotation mark, because the
  /// app treats `'` and `"` as JSON's quotation marks.
  public static func carried(_ text: String) -> String {
    var name = ""
    for character in text.trimmed {
      switch character {
      case "'": name += "\u{2019}"
      case "\"": name += "\u{201D}"
      default: name.append(character)
      }
    }
    return name
  }

  /// Creates a name from a text in the form that `carried` returns.
  public init(_ text: String) throws(PlantRefusal) {
    let name = Self.carried(text)
    guard name.unicodeScalars.count <= Self.maximumLength else {
      throw PlantRefusal(
        .plantNameTooLong, field: "name",
        "expected at most \(Self.maximumLength) characters, got \(name.unicodeScalars.count)")
    }
    guard !name.isEmpty else { throw PlantRefusal(.invalidPlantName, field: "name", "expected a name, got nothing") }
    guard name != "all" else {
      throw PlantRefusal(.invalidPlantName, field: "name", "expected another name: \"all\" asks for every plant")
    }
    let isCarried =
      name.unicodeScalars.allSatisfy(Self.isAllowed) && !name.holdsPair("-") && !name.hasPrefix("-")
      && !name.hasSuffix("-")
    guard isCarried else {
      throw PlantRefusal(
        .invalidPlantName, field: "name",
        "expected no control character, none of : ; | \\, no -- and no hyphen at an end")
    }
    self.text = name
  }

  /// Creates a name that a person gives now, which must consist of visible letters. Names stored before this rule existed are read unchanged.
  init(given text: String) throws(PlantRefusal) {
    try self.init(text)
    if let flaw { throw PlantRefusal(.invalidPlantName, field: "name", "expected letters that are seen, got \(flaw)") }
  }

  /// The reason why this name may not be given now, such as `U+202E`, or `nil` if it may. A stored name may be older than that rule.
  public var flaw: String? {
    // The name has at most fifteen scalars already, so `maximumLength` is enough as the bound of its bytes.
    GivenName.flaw(in: text, 1...Self.maximumLength)
  }

  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case ":", ";", "|", "\\": false
    // C0, DEL, C1, line and paragraph separators.
    case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value): false
    case "\u{2028}", "\u{2029}": false
    default: true
    }
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    do {
      try self.init(container.decode(String.self))
    } catch let refusal as PlantRefusal {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: refusal.message)
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

extension PlantName: CustomStringConvertible {
  public var description: String { text }
}
