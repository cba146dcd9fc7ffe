import Service

/// The text of a configuration file without the comments that give a value to a key whose values are secrets, such as
/// `# token: abc`. In the place of each stands a note with the name of the key.
///
/// A comment is told from a `#` in a value by parsing the text without it: what is configured must stay the same.
struct SecretComments {
  /// A line in which a comment may hold a secret.
  private struct Line {
    /// The places of the `#` with which the comment may begin, in order.
    var starts: [Int]
    /// The place of the line's end.
    var end: Int
    /// The number of the line, from 1.
    var number: Int
    /// The name of the key.
    var key: String
  }

  /// The text with the notes.
  private(set) var text: String
  /// What was left out: for each comment the number of its line and the name of the key.
  private(set) var leftOut: [String] = []

  /// Leaves those comments out of a text, which must be valid YAML.
  init(leftOutOf text: String) {
    self.text = text
    let whole = Array(text.unicodeScalars)
    let lines = Self.lines(of: whole)
    guard !lines.isEmpty else { return }
    // The last line goes first, so that the places in the others stay as they are.
    var changed = whole
    for line in lines.reversed() { changed.replaceSubrange(line.starts[0]..<line.end, with: Self.note(line.key)) }
    let all = String(String.UnicodeScalarView(changed))
    if ConfigEdit.isSame(all, as: text) {
      self.text = all
      leftOut = lines.map(Self.words)
      return
    }
    // One of them at least is in a value.
    changed = whole
    for line in lines.reversed() {
      for start in line.starts {
        var attempt = changed
        attempt.replaceSubrange(start..<line.end, with: Self.note(line.key))
        let attempted = String(String.UnicodeScalarView(attempt))
        guard ConfigEdit.isSame(attempted, as: text) else { continue }
        (changed, self.text) = (attempt, attempted)
        leftOut.insert(Self.words(line), at: 0)
        break
      }
    }
  }

  private static func note(_ key: String) -> String.UnicodeScalarView {
    "# (left out of the backup: \(key))".unicodeScalars
  }

  private static func words(_ line: Line) -> String {
    "line \(line.number) of the file: a comment with a value of \(line.key)"
  }

  private static func lines(of text: [Unicode.Scalar]) -> [Line] {
    var lines: [Line] = []
    var number = 1
    var start = 0
    while start < text.count {
      let end = text[start...].firstIndex(where: isBreak) ?? text.count
      if let found = secret(in: text[start..<end]) {
        let starts = (start..<found.place).filter { place in
          text[place] == "#" && (place == start || isBlank(text[place - 1]))
        }
        if !starts.isEmpty { lines.append(Line(starts: starts, end: end, number: number, key: found.key)) }
      }
      if end < text.count, text[end] == "\n" { number += 1 }
      start = end + 1
    }
    return lines
  }

  /// Returns the last key of a line whose values are secrets and that has a value there, with its place. A value that is
  /// taken from the environment is no secret.
  private static func secret(in line: ArraySlice<Unicode.Scalar>) -> (key: String, place: Int)? {
    for colon in line.indices.reversed() where line[colon] == ":" || line[colon] == "=" {
      let value = line[(colon + 1)...].drop { isBlank($0) || isQuote($0) }
      guard !value.isEmpty, !value.starts(with: "${".unicodeScalars) else { continue }
      var end = colon
      while end > line.startIndex, isBlank(line[end - 1]) || isQuote(line[end - 1]) { end -= 1 }
      var start = end
      while start > line.startIndex, end - start < longestName, isOfName(line[start - 1]) { start -= 1 }
      let name = String(String.UnicodeScalarView(line[start..<end]))
      if isSecret(name.lowercased()) { return (name, start) }
    }
    return nil
  }

  private static let longestName = 64

  /// The last parts of the keys of the configuration whose values are secrets.
  private static let names = Set(
    ConfigTable.keys.map(\.path).filter { TakenFile.isSecret($0) && !TakenFile.namesFile($0) }
      .compactMap { $0.split(separator: ".").last.map { String($0) } })

  /// Returns whether a name in small letters is one of `names`, has one of them behind a `_`, or reads like one. A comment
  /// often has harmless words behind "key:".
  private static func isSecret(_ name: String) -> Bool {
    names.contains { name == $0 || name.hasSuffix("_" + $0) }
      || SecretNames.isSecret(name.utf8) && !name.hasSuffix("key")
  }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }

  private static func isQuote(_ scalar: Unicode.Scalar) -> Bool { scalar == "'" || scalar == "\"" }

  private static func isOfName(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_": true
    default: false
    }
  }

  /// Returns whether a line of YAML ends with a character.
  private static func isBreak(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}": true
    default: false
    }
  }
}
