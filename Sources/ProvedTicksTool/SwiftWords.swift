/// The words and punctuation of a Swift source file without comments and strings; the contents of `\(…)` in a string
/// are also omitted.
///
/// This type knows just enough of the language to find declarations. A complete parser would be a further dependency
/// for every user of the runtime.
struct SwiftWords {
  struct Word: Equatable {
    var text: String
    /// The line of the word, from 1.
    var line: Int
  }

  private(set) var words: [Word] = []
  private let source: [UInt8]
  private var at = 0
  private var line = 1

  init(_ text: String) {
    source = Array(text.utf8)
    while at < source.count { read() }
  }

  private mutating func read() {
    let byte = source[at]
    switch byte {
    case UInt8(ascii: "/") where follows("//"): while at < source.count, source[at] != UInt8(ascii: "\n") { at += 1 }
    case UInt8(ascii: "/") where follows("/*"): skipComment()
    case UInt8(ascii: "\""), UInt8(ascii: "#"):
      if !skipString() { advance() }
    case UInt8(ascii: "`"): advance()
    case _ where Self.isNamePart(byte):
      let start = at
      while at < source.count, Self.isNamePart(source[at]) { at += 1 }
      words.append(Word(text: String(decoding: source[start..<at], as: UTF8.self), line: line))
    case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): advance()
    default:
      words.append(Word(text: String(UnicodeScalar(byte)), line: line))
      advance()
    }
  }

  private mutating func advance() {
    if source[at] == UInt8(ascii: "\n") { line += 1 }
    at += 1
  }

  private func follows(_ text: String) -> Bool { source[at...].starts(with: text.utf8) }

  /// Skips a comment, including nested comments.
  private mutating func skipComment() {
    var depth = 0
    repeat {
      if follows("/*") {
        depth += 1
        at += 2
      } else if follows("*/") {
        depth -= 1
        at += 2
      } else {
        advance()
      }
    } while depth > 0 && at < source.count
  }

  /// Skips a string if one begins here, with any number of `#` and with one or three quotation marks. Returns whether a
  /// string was skipped.
  private mutating func skipString() -> Bool {
    var start = at
    while start < source.count, source[start] == UInt8(ascii: "#") { start += 1 }
    guard start < source.count, source[start] == UInt8(ascii: "\"") else { return false }
    let signs = String(repeating: "#", count: start - at)
    let isLong = source[start...].starts(with: "\"\"\"".utf8)
    let end = (isLong ? "\"\"\"" : "\"") + signs
    at = start + (isLong ? 3 : 1)
    while at < source.count, !follows(end) {
      if !isLong, source[at] == UInt8(ascii: "\n") { return true }
      guard follows("\\" + signs) else {
        advance()
        continue
      }
      at += 1 + signs.utf8.count
      guard at < source.count else { return true }
      if source[at] == UInt8(ascii: "(") { skipInterpolation() } else { advance() }
    }
    at = min(at + end.utf8.count, source.count)
    return true
  }

  private mutating func skipInterpolation() {
    var depth = 0
    repeat {
      switch source[at] {
      case UInt8(ascii: "("): depth += 1
      case UInt8(ascii: ")"): depth -= 1
      case UInt8(ascii: "\""):
        _ = skipString()
        continue
      default: break
      }
      advance()
    } while depth > 0 && at < source.count
  }

  private static func isNamePart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "_"), 0x80...:
      true
    default: false
    }
  }
}
