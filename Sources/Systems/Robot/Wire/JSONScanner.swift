import Wire

/// The value of a JSON member (RFC 8259), limited to the kinds that a datagram uses. `JSONParser` cannot be used in a tick because it
/// allocates.
enum JSONScalar: BitwiseCopyable {
  case number(DecimalNumber)
  /// A string, or `nil` if it does not fit a `ShortText` and therefore equals none of the known names.
  case string(ShortText?)
  case null
  /// The values `true` and `false`, an object or an array.
  case other
}

/// A JSON value with the offset of its first byte.
struct JSONField: BitwiseCopyable {
  var at: Int
  var value: JSONScalar
}

extension ByteScanner {
  /// The deepest nesting of objects and arrays that is allowed; the outermost has depth 1.
  static var maximumDepth: Int {
    @_noLocks @_noAllocation get { 16 }
  }

  /// Returns the next key and value of the current object, or `nil` after the closing brace. `isFirst` is true directly after the opening
  /// brace.
  @_noLocks @_noAllocation @inline(__always)
  mutating func jsonMember(isFirst: Bool) throws(DatagramError) -> (key: ShortText?, field: JSONField)? {
    skipWhiteSpace()
    if skip(0x7D) { return nil }
    if !isFirst {
      try require(0x2C)
      skipWhiteSpace()
    }
    guard byte == 0x22 else { throw .malformed(at: index) }
    let key = try jsonString()
    skipWhiteSpace()
    try require(0x3A)
    skipWhiteSpace()
    return (key, JSONField(at: index, value: try jsonValue()))
  }

  /// Checks that only white space remains before the end.
  @_noLocks @_noAllocation
  mutating func requireEnd() throws(DatagramError) {
    skipWhiteSpace()
    guard isAtEnd else { throw .trailing(at: index) }
  }

  /// Scans and returns a value of an object at depth 1.
  @_noLocks @_noAllocation @inline(__always)
  private mutating func jsonValue() throws(DatagramError) -> JSONScalar {
    switch byte {
    case 0x2D, 0x30...0x39: return .number(try jsonNumber())
    case 0x22: return .string(try jsonString())
    case 0x7B, 0x5B:
      try skipContainer()
      return .other
    default: return try jsonLiteral()
    }
  }

  @_noLocks @_noAllocation
  private mutating func jsonLiteral() throws(DatagramError) -> JSONScalar {
    switch byte {
    case 0x74:
      try require("true")
      return .other
    case 0x66:
      try require("false")
      return .other
    case 0x6E:
      try require("null")
      return .null
    default: throw .malformed(at: index)
    }
  }

  @_noLocks @_noAllocation
  private mutating func require(_ word: StaticString) throws(DatagramError) {
    for offset in 0..<word.utf8CodeUnitCount { try require(word.utf8Start[offset]) }
  }

  /// Checks and skips an object or array inside an object of depth 1, without recursion.
  @_noLocks @_noAllocation
  private mutating func skipContainer() throws(DatagramError) {
    var depth = 1
    // One bit for each open container, the innermost lowest: 1 object, 0 array.
    var objects: UInt32 = 0
    repeat {
      // Here a value begins.
      let opening = byte
      if opening == 0x7B || opening == 0x5B {
        guard depth < Self.maximumDepth else { throw .tooDeep(at: index) }
        index &+= 1
        depth &+= 1
        objects = objects &<< 1 | (opening == 0x7B ? 1 : 0)
        skipWhiteSpace()
        if byte != (opening == 0x7B ? 0x7D : 0x5D) {
          if opening == 0x7B { try skipKey() }
          continue
        }
      } else if opening == 0x22 {
        _ = try jsonString()
      } else if opening == 0x2D || opening &- 0x30 < 10 {
        _ = try jsonNumber()
      } else {
        _ = try jsonLiteral()
      }
      // Here a value has ended: close what ends with it, then step to the next value.
      while depth > 1 {
        skipWhiteSpace()
        let isObject = objects & 1 == 1
        if skip(isObject ? 0x7D : 0x5D) {
          depth &-= 1
          objects &>>= 1
          continue
        }
        try require(0x2C)
        skipWhiteSpace()
        if isObject { try skipKey() }
        break
      }
    } while depth > 1
  }

  @_noLocks @_noAllocation
  private mutating func skipKey() throws(DatagramError) {
    guard byte == 0x22 else { throw .malformed(at: index) }
    _ = try jsonString()
    skipWhiteSpace()
    try require(0x3A)
    skipWhiteSpace()
  }
}
