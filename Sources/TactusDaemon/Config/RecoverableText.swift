import Yams

/// A file's text in which what stops the parser is put aside, every other line and column staying where it is.
struct RecoverableText {
  private var lines: [[Unicode.Scalar]]
  /// The names of the keys that were put aside, by the character that they begin with now.
  private(set) var doubled: [Unicode.Scalar: String] = [:]
  /// For private use, and in no file that means anything by them.
  private var next: UInt32 = 0xE000

  init(_ text: String) {
    lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(Array.init)
  }

  var text: String {
    String(String.UnicodeScalarView(lines.joined(separator: ["\n"])))
  }

  /// Gives the key at a place a name that no other has, of the same length. Returns whether it could.
  mutating func mark(_ name: String, at mark: Mark) -> Bool {
    guard let line = lines.indices.contains(mark.line - 1) ? mark.line - 1 : nil, doubled.count < 20 else {
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

  /// Empties the lines of the top-level section that a line, from 1, belongs to. Returns whether anything was left of it.
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
