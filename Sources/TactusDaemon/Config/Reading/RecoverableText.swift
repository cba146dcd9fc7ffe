import Yams

/// The text of a file from which the parts that stop the parser can be removed, while every other line and column stays in place.
struct RecoverableText {
  private var lines: [[Unicode.Scalar]]
  /// The names of the renamed keys, by the character with which each now begins.
  private(set) var doubled: [Unicode.Scalar: String] = [:]
  /// The next character for a renamed key, from the private use area, which no file uses with a meaning.
  private var next: UInt32 = 0xE000
  /// The greatest number of keys that may be renamed. The text is parsed again after each one, so the number is smaller
  /// for a text of many keys: of a text of 4,000 equal keys two are renamed before it is refused.
  let most: Int

  init(_ text: String) {
    lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(Array.init)
    let keys = lines.reduce(0) { count, line in
      line.first { $0 != " " } == "#" ? count : count + line.count { $0 == ":" }
    }
    most = min(20, max(2, 10_000 / (keys + 1)))
  }

  var text: String {
    String(String.UnicodeScalarView(lines.joined(separator: ["\n"])))
  }

  /// Renames the key at a place to a unique name of the same length. Returns whether that was possible.
  mutating func mark(_ name: String, at mark: Mark) -> Bool {
    guard let line = lines.indices.contains(mark.line - 1) ? mark.line - 1 : nil, doubled.count < most else {
      return false
    }
    var column = mark.column - 1
    if lines[line].indices.contains(column), ["'", "\""].contains(lines[line][column]) { column += 1 }
    guard lines[line].indices.contains(column), lines[line][column] == name.unicodeScalars.first,
      let other = Unicode.Scalar(next)
    else { return false }
    next += 1
    lines[line][column] = other
    doubled[other] = name
    return true
  }

  /// Empties the lines of the top-level section that contains a line, counted from 1. Returns whether the section had any text.
  mutating func removeSection(around number: Int) -> Bool {
    guard !lines.isEmpty else { return false }
    let line = min(max(0, number - 1), lines.count - 1)
    var first = line
    while first > 0, !Self.beginsSection(lines[first]) { first -= 1 }
    var end = line + 1
    while end < lines.count, !Self.beginsSection(lines[end]) { end += 1 }
    guard lines[first..<end].contains(where: { !$0.isEmpty }) else { return false }
    for index in first..<end { lines[index] = [] }
    return true
  }

  private static func beginsSection(_ line: [Unicode.Scalar]) -> Bool {
    guard let first = line.first else { return false }
    return ![" ", "\t", "#", "-", "]", "}", "\r"].contains(first)
  }
}
