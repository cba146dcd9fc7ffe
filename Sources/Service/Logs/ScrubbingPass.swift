/// Scrubs one text word by word. A word is a run of the characters of a token: letters, digits, `_` and `-`. Every byte
/// is copied or skipped once; bytes that are inspected ahead are also consumed.
struct ScrubbingPass {
  private let input: [UInt8]
  private let secrets: [[UInt8]]
  private(set) var output: [UInt8] = []
  private var position = 0
  private var hasScrubbed = false

  private static let mark = Array(LogScrubber.mark.utf8)
  private static let prefix = Array("tactus_".utf8)
  private static let webToken = Array("eyJ".utf8)
  private static let bearer = Array("bearer".utf8)
  /// The least length of a token in bytes; shorter words belong to a sentence about tokens.
  private static let shortestToken = 8

  init(_ text: [UInt8], secrets: [[UInt8]]) {
    input = text
    self.secrets = secrets
  }

  /// Scrubs the text into `output`. Returns whether a secret was found.
  mutating func run() -> Bool {
    output.reserveCapacity(input.count)
    while position < input.count {
      if let secret = secrets.first(where: { input[position...].starts(with: $0) }) {
        skip(to: position + secret.count)
      } else if Self.isWord(input[position]) {
        word()
      } else {
        output.append(input[position])
        position += 1
      }
    }
    return hasScrubbed
  }

  private mutating func word() {
    let start = position
    let end = run(from: start, while: Self.isWord)
    let word = input[start..<end]
    // A known secret is inside or across the word: the pass goes up to the secret and continues from there.
    if !secrets.isEmpty,
      let inside = (start + 1..<end).first(where: { at in secrets.contains { input[at...].starts(with: $0) } })
    {
      return copy(to: inside)
    }
    if let at = find(Self.webToken, in: word), let after = endOfWebToken(from: at) {
      copy(to: at)
      return skip(to: after)
    }
    if let at = find(Self.prefix, in: word), end - at >= Self.prefix.count + Self.shortestToken {
      copy(to: at)
      // A secret part may follow a public one after a dot.
      return skip(to: run(from: at) { Self.isWord($0) || Self.isTokenMark($0) })
    }
    copy(to: end)
    // What looks like a value may be the name of the next one: `token= Bearer XYZ`.
    var name: ArraySlice<UInt8>? = word
    while let before = name {
      name =
        SecretNames.endsWith(Self.bearer, before)
        ? scrubBearer() : SecretNames.isSecret(before) ? scrubValue(of: before) : nil
    }
  }

  /// Scrubs the token in `Bearer XYZ`, or in the WebSocket's subprotocol `bearer.XYZ`. Returns the word at the token's
  /// end if it may be the name of another secret, otherwise `nil`.
  private mutating func scrubBearer() -> ArraySlice<UInt8>? {
    let value = run(from: position) { $0 == 0x20 || $0 == 0x2E || $0 == 0x3A || $0 == 0x3D || $0 == 0x09 }
    guard value > position else { return nil }
    let end = run(from: value) { Self.isWord($0) || Self.isTokenMark($0) }
    guard end - value >= Self.shortestToken else { return nil }
    copy(to: value)
    return skipValue(to: end)
  }

  /// Scrubs the value of a secret name. Returns the word at the value's end if it may be the name of another secret, otherwise `nil`.
  private mutating func scrubValue(of name: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    let quote = input[position..<run(from: position, while: Self.isQuote)]
    var value = run(from: position, while: Self.isQuoteOrSpace)
    guard value < input.count else { return nil }
    let isMember = quote.last == 0x22 && input[value] == 0x3A
    if input[value] == 0x3D || input[value] == 0x3A && !SecretNames.isKey(name) {
      value += 1
    } else if input[value...].starts(with: [0x25, 0x33]), value + 2 < input.count,
      SecretNames.lowercased(input[value + 2]) == 0x64
    {
      value += 3  // %3D
    } else {
      return nil
    }
    let blanks = run(from: value) { $0 == 0x20 || $0 == 0x09 }
    if SecretNames.isAuthorization(name) {
      copy(to: blanks)
      skip(to: run(from: blanks) { $0 != 0x0A && $0 != 0x0D })
      return nil
    }
    if Self.literals.contains(where: { input[blanks...].starts(with: $0) && isValueEnd(blanks + $0.count) }) {
      return nil
    }
    if isMember, let end = endOfJSON(from: blanks, isEscaped: quote.count > 1) {
      // The replacement is a JSON text, with the same quotation marks as the name.
      copy(to: blanks)
      output += quote
      skip(to: end)
      output += quote
      return nil
    }
    let opening = run(from: blanks, while: Self.isQuote)
    let closing = opening > blanks ? input[opening - 1] : nil
    let end = run(from: opening) { byte in
      if let closing { return byte != closing }
      return byte > 0x20 && byte != 0x26 && byte != 0x22
    }
    guard end > opening else { return nil }
    copy(to: opening)
    return skipValue(to: end)
  }

  /// The values that are no secret whatever their name is.
  private static let literals = ["true", "false", "null"].map { Array($0.utf8) }

  /// Returns whether a value without quotation marks ends at a place: the text ends there, or a space, a bracket or a comma follows.
  private func isValueEnd(_ place: Int) -> Bool {
    place == input.count || input[place] <= 0x20 || [0x2C, 0x5D, 0x7D].contains(input[place])
  }

  /// Returns the end of a JSON number, or of a JSON list or object, which ends with its line at the latest; `nil` if none begins at `start`.
  ///
  /// - Parameter isEscaped: whether the JSON is within a JSON text, where a `\` precedes its quotation marks.
  private func endOfJSON(from start: Int, isEscaped: Bool) -> Int? {
    guard start < input.count else { return nil }
    guard input[start] == 0x5B || input[start] == 0x7B else {
      let end = run(from: start) { (0x30...0x39).contains($0) || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains($0) }
      return end > start && isValueEnd(end) ? end : nil
    }
    var (depth, isText, place) = (0, false, start)
    while place < input.count, input[place] != 0x0A {
      switch input[place] {
      case 0x5C where isText && !isEscaped && place + 1 < input.count && input[place + 1] != 0x0A: place += 1
      case 0x22: isText.toggle()
      case 0x5B where !isText, 0x7B where !isText: depth += 1
      case 0x5D where !isText, 0x7D where !isText: depth -= 1
      default: break
      }
      place += 1
      if depth == 0 { break }
    }
    return place
  }

  /// Skips a value. If its last word may be the name of a secret, skips only up to the end of that word and returns it,
  /// so that the following text is scrubbed as its value.
  private mutating func skipValue(to end: Int) -> ArraySlice<UInt8>? {
    var wordEnd = end
    while wordEnd > position, !Self.isWord(input[wordEnd - 1]) { wordEnd -= 1 }
    // `%3D` is a separator, and made of a word's bytes.
    if wordEnd - position > 3,
      input[wordEnd - 3..<wordEnd].elementsEqual([0x25, 0x33, 0x44])
        || input[wordEnd - 3..<wordEnd].elementsEqual([0x25, 0x33, 0x64])
    {
      wordEnd -= 3
    }
    var wordStart = wordEnd
    while wordStart > position, Self.isWord(input[wordStart - 1]) { wordStart -= 1 }
    let word = input[wordStart..<wordEnd]
    guard SecretNames.isSecret(word) || SecretNames.endsWith(Self.bearer, word) else {
      skip(to: end)
      return nil
    }
    skip(to: wordEnd)
    return word
  }

  /// Returns the end of a JSON web token, `eyJ….….…`, of at least two parts, or `nil` if none begins at `start`.
  private func endOfWebToken(from start: Int) -> Int? {
    var end = run(from: start, while: Self.isWord)
    guard end < input.count, input[end] == 0x2E, end - start >= Self.shortestToken else { return nil }
    let second = run(from: end + 1, while: Self.isWord)
    guard second - end > 1 else { return nil }
    end = second
    while end + 1 < input.count, input[end] == 0x2E, Self.isWord(input[end + 1]) {
      end = run(from: end + 1, while: Self.isWord)
    }
    return end
  }

  private mutating func copy(to end: Int) {
    output += input[position..<end]
    position = end
  }

  private mutating func skip(to end: Int) {
    output += Self.mark
    position = end
    hasScrubbed = true
  }

  private func run(from start: Int, while condition: (UInt8) -> Bool) -> Int {
    var end = start
    while end < input.count, condition(input[end]) { end += 1 }
    return end
  }

  private func find(_ needle: [UInt8], in word: ArraySlice<UInt8>) -> Int? {
    guard word.count >= needle.count else { return nil }
    return (word.startIndex...word.endIndex - needle.count).first { input[$0...].starts(with: needle) }
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 0x5F || byte == 0x2D
  }

  /// Returns whether a bearer token may contain this byte although no word does (RFC 6750): `.~+/=`.
  private static func isTokenMark(_ byte: UInt8) -> Bool {
    byte == 0x2E || byte == 0x7E || byte == 0x2B || byte == 0x2F || byte == 0x3D
  }

  private static func isQuote(_ byte: UInt8) -> Bool { byte == 0x22 || byte == 0x27 || byte == 0x5C }
  private static func isQuoteOrSpace(_ byte: UInt8) -> Bool { isQuote(byte) || byte == 0x20 || byte == 0x09 }
}
