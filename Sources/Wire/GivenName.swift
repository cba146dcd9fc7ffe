/// The rules for a name that comes from outside, such as that of a zone, a schedule, a plant or a token.
///
/// A name is limited in bytes as well as in characters, since one character may have a thousand combining marks. It
/// contains no invisible characters: they make different names look alike, and direction marks reverse the text beside
/// a name, in a log as on the page.
public enum GivenName {
  /// Returns the greatest number of UTF-8 bytes for this number of characters: four per character, the length of the longest scalar.
  public static func mostBytes(ofCharacters count: Int) -> Int { count * 4 }

  /// Returns the rule for a name of this number of characters, as the expectation of an error message.
  public static func rule(_ length: ClosedRange<Int>) -> String {
    "text of \(length.lowerBound)…\(length.upperBound) characters that are seen, at most "
      + "\(mostBytes(ofCharacters: length.upperBound)) bytes"
  }

  /// Returns a description of the fault of a name, such as `61 characters` or `U+202E`, or `nil` if the name has none.
  ///
  /// - Parameters:
  ///   - text: the name as given.
  ///   - length: the allowed number of characters.
  public static func flaw(in text: String, _ length: ClosedRange<Int>) -> String? {
    if let flaw = excess(of: text, length) { return flaw }
    if let scalar = unseen(in: text) {
      let digits = String(scalar.value, radix: 16, uppercase: true)
      return "U+" + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }
    return !text.isEmpty && text.allSatisfy(\.isWhitespace) ? "nothing but spaces" : nil
  }

  /// The rule that `misplacedSpace` checks, as the expectation of an error message.
  public static let spaceRule = "a name without spaces at its ends, and without two in a row"

  /// Returns a description of white space that makes a name look like another one, such as `a space at its end`, or `nil`
  /// if there is none.
  public static func misplacedSpace(in text: String) -> String? {
    let spaces = text.unicodeScalars.map(\.properties.isWhitespace)
    if spaces.first == true { return "a space at its start" }
    if spaces.last == true { return "a space at its end" }
    return zip(spaces, spaces.dropFirst()).contains { $0 && $1 } ? "two spaces in a row" : nil
  }

  /// Returns whether two names have the same words, so that people take them for one name: they differ at most in the
  /// white space at their ends and between their words.
  public static func looksAlike(_ one: String, _ other: String) -> Bool {
    one.split(whereSeparator: \.isWhitespace) == other.split(whereSeparator: \.isWhitespace)
  }

  /// Returns the actual length of a text in words if it is too short or too long, in characters or in bytes, or `nil`
  /// if it is allowed.
  public static func excess(of text: String, _ length: ClosedRange<Int>) -> String? {
    let isLong = text.utf8.count > mostBytes(ofCharacters: length.upperBound)
    let count = text.count
    if length.contains(count) { return isLong ? "\(text.utf8.count) bytes" : nil }
    return count == 0 ? "nothing" : "\(count) characters"
  }

  /// Returns the first invisible scalar of a text, or `nil` if all are visible.
  ///
  /// U+200C and U+200D count as visible between two visible scalars: both are letters in Persian and Indian languages,
  /// and U+200D joins the parts of an emoji (a gardener is three scalars). Variation selectors count as visible, too.
  public static func unseen(in text: String) -> Unicode.Scalar? {
    // A joiner that is allowed only if the next scalar is visible.
    var joiner: Unicode.Scalar?
    var isAfterSeen = false
    for scalar in text.unicodeScalars {
      if scalar == "\u{200C}" || scalar == "\u{200D}" {
        guard isAfterSeen else { return scalar }
        (joiner, isAfterSeen) = (scalar, false)
        continue
      }
      guard isSeen(scalar) else { return scalar }
      if let joiner, scalar.properties.isWhitespace { return joiner }
      (joiner, isAfterSeen) = (nil, !scalar.properties.isWhitespace)
    }
    return joiner
  }

  /// Returns whether a scalar may be part of a visible character. All others are told by their numbers, in a log as on a
  /// terminal: controls, line separators, direction marks and what else is invisible.
  package static func isPart(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "\u{200C}" || scalar == "\u{200D}" || isSeen(scalar)
  }

  private static func isSeen(_ scalar: Unicode.Scalar) -> Bool {
    let properties = scalar.properties
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: return false
    default: break
    }
    // Interlinear annotation marks are invisible, too, although Unicode does not mark them as ignorable.
    if (0xFFF9...0xFFFB).contains(scalar.value) { return false }
    return !properties.isDefaultIgnorableCodePoint || properties.isVariationSelector
  }
}
