/// A strict parser of JSON text (RFC 8259): one value, each member once, at most 32 levels, valid UTF-8.
///
/// Foundation's parsers do not report where an error is, and accept text that should be refused, such as a member given twice. The
/// parser allocates; ticks parse datagrams with `ByteScanner`.
public struct JSONParser {
  /// The reason and the position of an error.
  public struct Failure: Error, Equatable {
    /// The number of bytes before the error.
    public let offset: Int
    /// The line of the error, from 1.
    public let line: Int
    /// The column of the error, from 1, counted in bytes.
    public let column: Int
    /// The reason for people, without the position, such as `expected ':'`.
    public let reason: String
  }

  /// The treatment of a member whose name the object already contains.
  public enum RepeatedMember: Sendable {
    /// The repeated member is an error.
    case refused
    /// The repeated member replaces the previous one, as in Python.
    case lastCounts
  }

  /// The greatest depth of nested objects and lists.
  public static let greatestDepth = 32

  private let bytes: [UInt8]
  private let repeated: RepeatedMember
  private var position = 0

  /// Parses `bytes` of any length, in time proportional to the length.
  public static func parse(_ bytes: [UInt8], repeated: RepeatedMember = .refused) throws(Failure) -> JSONValue {
    var parser = JSONParser(bytes: bytes, repeated: repeated)
    let value = try parser.value(depth: 0)
    parser.skipSpace()
    guard parser.position == bytes.count else { throw parser.failure("expected the end of the text") }
    return value
  }

  private init(bytes: [UInt8], repeated: RepeatedMember) { (self.bytes, self.repeated) = (bytes, repeated) }

  private func failure(_ reason: String, at place: Int? = nil) -> Failure {
    let place = place ?? position
    let before = bytes[..<place]
    let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    let line = before.reduce(1) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
    return Failure(offset: place, line: line, column: place - lineStart + 1, reason: reason)
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func value(depth: Int) throws(Failure) -> JSONValue {
    skipSpace()
    guard let byte = next else { throw failure("expected a value, got the end of the text") }
    switch byte {
    case UInt8(ascii: "{"): return try object(depth: depth + 1)
    case UInt8(ascii: "["): return try list(depth: depth + 1)
    case UInt8(ascii: "\""): return .text(try text())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
    default:
      for (word, value) in [("true", JSONValue.boolean(true)), ("false", .boolean(false)), ("null", .null)]
      where bytes[position...].starts(with: word.utf8) {
        position += word.utf8.count
        return value
      }
      throw failure("expected a value")
    }
  }

  private mutating func object(depth: Int) throws(Failure) -> JSONValue {
    try enter(depth)
    var members: [JSONValue.Member] = []
    // Names are compared by their bytes, since texts that are equal in Swift may be two names.
    var places: [[UInt8]: Int] = [:]
    skipSpace()
    if skip("}") { return .object([]) }
    repeat {
      skipSpace()
      let place = position
      guard next == UInt8(ascii: "\"") else { throw failure("expected a member's name in quotation marks") }
      let name = try text()
      let earlier = places[Array(name.utf8)]
      guard earlier == nil || repeated == .lastCounts else {
        throw failure("the member \"\(JSONValue.shortened(name))\" comes twice", at: place)
      }
      skipSpace()
      guard skip(":") else { throw failure("expected ':'") }
      let member = JSONValue.Member(name: name, value: try value(depth: depth))
      if let earlier {
        members[earlier] = member
      } else {
        places[Array(name.utf8)] = members.count
        members.append(member)
      }
      skipSpace()
    } while skip(",")
    guard skip("}") else { throw failure("expected ',' or '}'") }
    return .object(members)
  }

  private mutating func list(depth: Int) throws(Failure) -> JSONValue {
    try enter(depth)
    var items: [JSONValue] = []
    skipSpace()
    if skip("]") { return .list([]) }
    repeat {
      items.append(try value(depth: depth))
      skipSpace()
    } while skip(",")
    guard skip("]") else { throw failure("expected ',' or ']'") }
    return .list(items)
  }

  private mutating func enter(_ depth: Int) throws(Failure) {
    guard depth <= Self.greatestDepth else { throw failure("expected at most \(Self.greatestDepth) levels") }
    position += 1
  }

  private mutating func number() throws(Failure) -> String {
    let start = position
    _ = skip("-")
    if !skip("0") { try digits() }
    if skip(".") { try digits() }
    if skip("e") || skip("E") {
      if !skip("-") { _ = skip("+") }
      try digits()
    }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func digits() throws(Failure) {
    let start = position
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
    guard position > start else { throw failure("expected a digit") }
  }

  private mutating func text() throws(Failure) -> String {
    position += 1
    var content: [UInt8] = []
    let start = position
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validating: content, as: UTF8.self) else { throw failure("expected UTF-8", at: start) }
        position += 1
        return text
      case UInt8(ascii: "\\"):
        content += Array(String(Character(try escape())).utf8)
      case ..<0x20:
        throw failure("expected control characters to be escaped")
      default:
        content.append(byte)
        position += 1
      }
    }
    throw failure("expected '\"', got the end of the text")
  }

  private mutating func escape() throws(Failure) -> Unicode.Scalar {
    let start = position
    position += 1
    guard let byte = next else { throw failure("expected an escape, got the end of the text") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{08}"
    case UInt8(ascii: "f"): return "\u{0C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      let unit = try hexadecimal()
      if let scalar = Unicode.Scalar(unit) { return scalar }
      // A surrogate: its other half must follow.
      guard unit < 0xDC00, skip("\\"), skip("u"), case let low = try hexadecimal(), (0xDC00..<0xE000).contains(low)
      else { throw failure("expected a pair of surrogates", at: start) }
      return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))!
    default: throw failure("expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u", at: start)
    }
  }

  private mutating func hexadecimal() throws(Failure) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw failure("expected four hexadecimal digits")
      }
      value = value << 4 | UInt32(clamping: digit)
      position += 1
    }
    return value
  }
}
