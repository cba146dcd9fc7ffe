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
  /// The comments that were left out, each by the number of its line and the name of the key.
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
      leftOut = lines.map(Self.sentence(of:))
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
        leftOut.insert(Self.sentence(of: line), at: 0)
        break
      }
    }
  }

  private static func note(_ key: String) -> String.UnicodeScalarView {
    "# (left out of the backup: \(key))".unicodeScalars
  }

  private static func sentence(of line: Line) -> String {
    "line \(line.number) of the file: a comment that may hold a value of \(line.key)"
  }

  private static func lines(of text: [Unicode.Scalar]) -> [Line] {
    var lines: [Line] = []
    var block: Block?
    var number = 1
    var start = 0
    while start < text.count {
      let end = text[start...].firstIndex(where: isBreak) ?? text.count
      let line = text[start..<end]
      if let found = secret(in: line) {
        let starts = (start..<found.place).filter { text[$0] == "#" }
        let own = Line(starts: starts, end: end, number: number, key: found.key)
        if !starts.isEmpty, !found.isEmpty { lines.append(own) }
        block = starts.last.map { Block(own: found.isEmpty ? own : nil, key: found.key, indentation: found.place - $0) }
        if !found.opensBlock { block = nil }
      } else if let hash = line.firstIndex(where: { !isBlank($0) }), text[hash] == "#", let open = block,
        let word = text[(hash + 1)..<end].firstIndex(where: { !isBlank($0) }), word - hash > open.indentation
      {
        lines += open.own.map { [$0] } ?? []
        block?.own = nil
        lines.append(Line(starts: [hash], end: end, number: number, key: open.key))
      } else {
        block = nil
      }
      if end < text.count, text[end] == "\n" { number += 1 }
      start = end + 1
    }
    return lines
  }

  /// A comment that ends with a secret key, whose value may be in the comments of the lines that follow and that are
  /// indented further.
  private struct Block {
    /// The comment with the key, if it has no value itself and is left out only with one that follows.
    var own: Line?
    var key: String
    /// The distance of the key from its `#`.
    var indentation: Int
  }

  /// A secret key of a line, and what stands behind it.
  private struct Found {
    var key: String
    /// A comment that may hold the secret begins before this place.
    var place: Int
    /// Whether the line has no value.
    var isEmpty = false
    /// Whether the value is on the lines that follow.
    var opensBlock = false
  }

  /// Returns the last key of a line whose values are secrets. A value that is taken from the environment is no secret.
  private static func secret(in line: ArraySlice<Unicode.Scalar>) -> Found? {
    var open: Found?
    for colon in line.indices.reversed() where line[colon] == ":" || line[colon] == "=" {
      var end = colon
      while end > line.startIndex, isBlank(line[end - 1]) || isQuote(line[end - 1]) { end -= 1 }
      var start = end
      while start > line.startIndex, end - start < longestName, isOfName(line[start - 1]) { start -= 1 }
      let name = String(String.UnicodeScalarView(line[start..<end]))
      guard isSecret(name.lowercased()) else { continue }
      let value = line[(colon + 1)...].drop { isBlank($0) || isQuote($0) }
      if value.starts(with: "${".unicodeScalars) { continue }
      if value.isEmpty {
        open = open ?? Found(key: name, place: start, isEmpty: true, opensBlock: true)
      } else {
        return Found(key: name, place: start, opensBlock: value.first == "|" || value.first == ">")
      }
    }
    return open
  }

  private static let longestName = 64

  /// The last parts of the keys of the configuration whose values are secrets.
  private static let names = Set(
    ConfigTable.keys.map(\.path).filter { TakenFile.isSecret($0) && !TakenFile.namesFile($0) }
      .compactMap { $0.split(separator: ".").last.map { String($0) } })

  /// The last parts of the keys whose values name files, such as `tls_key`.
  private static let fileNames = Set(
    ConfigTable.keys.map(\.path).filter { TakenFile.namesFile($0) }
      .compactMap { $0.split(separator: ".").last.map { String($0) } })

  /// Returns whether a name in small letters is one of `names`, has one of them behind a `_`, or reads like one. A comment
  /// often has harmless words behind "key:".
  private static func isSecret(_ name: String) -> Bool {
    names.contains { name == $0 || name.hasSuffix("_" + $0) }
      || SecretNames.isSecret(name.utf8) && name != "key" && !fileNames.contains(name)
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
