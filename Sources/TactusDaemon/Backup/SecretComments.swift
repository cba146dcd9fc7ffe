@_spi(FromOutside) import Conversions
import Service
import Yams

/// The text of a configuration file without the comments that may hold an old secret. In the place of each stands a note
/// with the name of the key. Left out are:
///
/// - a comment that gives a value to a key whose values are secrets, such as `# token: abc`;
/// - any comment beside the value of such a key, such as `password: ${PASSWORD}  # was abc`, and between the two if the
///   value is on a later line.
///
/// A comment is told from a `#` in a value by a mark behind each `#`, which the parser returns with a value and drops with
/// a comment. So three parses are enough for any number of comments. The last one shows that what is configured has
/// stayed the same.
struct SecretComments {
  /// The text is not YAML, or its comments cannot be told from its values.
  struct Failure: Error {}

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

  /// Leaves those comments out of a text.
  ///
  /// - Parameter parse: parses YAML; called at most three times.
  init(
    leftOutOf text: String, parse: (String) throws -> Node? = { try Yams.compose(yaml: $0, .basic) }
  ) throws(Failure) {
    self.text = text
    do {
      let whole = Array(text.unicodeScalars)
      let root = try parse(text)
      var keys: [Int: String] = [:]
      Self.findSecrets(in: root, &keys)
      let lines = Self.lines(of: whole, keys)
      guard !lines.isEmpty else { return }
      guard let mark = Self.mark(notIn: [text] + Self.texts(in: root)) else { throw Failure() }
      let marked = try parse(Self.marked(whole, behind: lines.flatMap(\.starts), mark))
      let inValues = Set(Self.texts(in: marked).flatMap { Self.numbers(in: $0, mark) })
      let changed = leaveOut(lines, of: whole) { inValues.contains($0) }
      guard !leftOut.isEmpty else { return }
      guard ConfigEdit.isSame(try parse(changed), as: root) else { throw Failure() }
      self.text = changed
    } catch {
      throw Failure()
    }
  }

  /// Returns the text without the comments of the lines, and adds them to `leftOut`.
  ///
  /// - Parameter isInValue: whether the start with a number is in a value; the starts of all lines are numbered from 0.
  private mutating func leaveOut(_ lines: [Line], of text: [Unicode.Scalar], _ isInValue: (Int) -> Bool) -> String {
    var changed = String.UnicodeScalarView()
    var (number, place) = (0, 0)
    for line in lines {
      let numbered = line.starts.enumerated().first { !isInValue(number + $0.offset) }
      number += line.starts.count
      guard let start = numbered?.element, !Self.isNote(text[start..<line.end]) else { continue }
      changed.append(contentsOf: text[place..<start])
      changed.append(contentsOf: Self.note(line.key))
      place = line.end
      leftOut.append(Self.sentence(of: line))
    }
    changed.append(contentsOf: text[place...])
    return String(changed)
  }

  // MARK: marks

  /// Returns a character that none of the texts has.
  private static func mark(notIn texts: [String]) -> Unicode.Scalar? {
    let taken = Set(texts.joined(separator: "").unicodeScalars)
    let privateUse: ClosedRange<UInt32> = 0xE000...0xF8FF
    return privateUse.lazy.compactMap { Unicode.Scalar($0) }.first { !taken.contains($0) }
  }

  /// Returns the text with the number of each place, from 0, between two marks behind the character there.
  private static func marked(_ text: [Unicode.Scalar], behind places: [Int], _ mark: Unicode.Scalar) -> String {
    var marked = String.UnicodeScalarView()
    var start = 0
    for (number, place) in places.enumerated() {
      marked.append(contentsOf: text[start...place])
      marked.append(mark)
      marked.append(contentsOf: String(number).unicodeScalars)
      marked.append(mark)
      start = place + 1
    }
    marked.append(contentsOf: text[start...])
    return String(marked)
  }

  /// Returns the numbers that stand between two marks.
  private static func numbers(in text: String, _ mark: Unicode.Scalar) -> [Int] {
    let pieces = text.unicodeScalars.split(separator: mark, omittingEmptySubsequences: false)
    return pieces.enumerated().compactMap { $0.offset % 2 == 1 ? Int(String($0.element)) : nil }
  }

  /// Returns the keys and values of a part of a parsed text.
  private static func texts(in node: Node?) -> [String] {
    switch node {
    case .mapping(let mapping): mapping.flatMap { texts(in: $0.key) + texts(in: $0.value) }
    case .sequence(let items): items.flatMap { texts(in: $0) }
    case .scalar(let scalar): [scalar.string]
    case .alias, nil: []
    }
  }

  // MARK: lines

  private static let noteBegin = "# (left out of the backup: "

  private static func note(_ key: String) -> String.UnicodeScalarView { "\(noteBegin)\(key))".unicodeScalars }

  /// Returns whether a comment is a note of an earlier backup.
  private static func isNote(_ comment: ArraySlice<Unicode.Scalar>) -> Bool {
    let text = String(String.UnicodeScalarView(comment))
    guard text.hasPrefix(noteBegin), text.hasSuffix(")") else { return false }
    return isSecret(text.dropFirst(noteBegin.count).dropLast().lowercased())
  }

  private static func sentence(of line: Line) -> String {
    "line \(line.number) of the file: a comment that may hold a value of \(line.key)"
  }

  /// Finds the lines from each key whose value is a secret to that value.
  ///
  /// - Parameter keys: the names of those keys by the numbers of the lines, which the parser counts from 1.
  private static func findSecrets(in node: Node?, _ keys: inout [Int: String]) {
    switch node {
    case .mapping(let mapping):
      for (key, value) in mapping {
        findSecrets(in: value, &keys)
        guard case .scalar = value, let name = key.string, isSecret(name.lowercased()), let first = key.mark?.line
        else { continue }
        for row in first...max(first, value.mark?.line ?? first) { keys[row] = name }
      }
    case .sequence(let items): for item in items { findSecrets(in: item, &keys) }
    case .scalar, .alias, nil: break
    }
  }

  /// Returns the lines with a comment that may hold a secret.
  ///
  /// - Parameter keys: the names of the keys whose values are secrets by the numbers of their lines.
  private static func lines(of text: [Unicode.Scalar], _ keys: [Int: String]) -> [Line] {
    var lines: [Line] = []
    var block: Block?
    // The parser ends lines with more than newlines, which an editor counts.
    var (number, row) = (1, 1)
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
      if let key = keys[row] {
        let starts = line.indices.filter { text[$0] == "#" }
        if lines.last?.end == end {
          lines[lines.count - 1].starts = starts
        } else if !starts.isEmpty {
          lines.append(Line(starts: starts, end: end, number: number, key: key))
          block?.own = nil
        }
      }
      start = end + (text[end...].starts(with: "\r\n".unicodeScalars) ? 2 : 1)
      if start <= text.count, text[start - 1] == "\n" { number += 1 }
      row += 1
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

  /// Returns the last key of a line whose values are secrets. A value that is taken from the environment is no secret, but
  /// what stands behind a `#` after it may be one.
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
      if value.starts(with: "${".unicodeScalars), !value.contains("#") { continue }
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
    ConfigTable.keys.map(\.path).filter { TakenFile.isSecret($0) }
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
