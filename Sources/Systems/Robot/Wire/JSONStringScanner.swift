@_spi(FromOutside) import Conversions
import Wire

extension ByteScanner {
  /// Scans a string from its opening quote and returns it with escapes resolved, or `nil` if it does not fit a `ShortText`.
  ///
  /// Unpaired surrogate escapes are accepted, as RFC 8259 §8.2 allows, and yield `nil`.
  @_noLocks @_noAllocation @inline(__always)
  mutating func jsonString() throws(DatagramError) -> ShortText? {
    index &+= 1
    var text = ShortText()
    // Eight bytes at a time: known names are short, and this decides the decoder's speed.
    while index &+ 8 <= bytes.count && text.count < ShortText.capacity {
      let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      let allowed = ShortText.allowedPrefix(of: word)
      text.appendWord(word, count: allowed)
      index &+= allowed
      if allowed < 8 { break }
    }
    if skip(0x22) { return text }
    return try jsonStringRest(text)
  }

  /// Scans the rest of a string, from the first character that is an escape, not ASCII or beyond the capacity of a `ShortText`.
  @_noLocks @_noAllocation @inline(never)
  private mutating func jsonStringRest(_ beginning: ShortText) throws(DatagramError) -> ShortText? {
    var text = beginning
    var fits = true
    while true {
      let character = byte
      switch character {
      case 0x22:
        index &+= 1
        return fits ? text : nil
      case 0x5C:
        let unit = try jsonEscape()
        fits = fits && unit < 0x80 && text.append(UInt8(truncatingIfNeeded: unit))
      case 0..<0x20: throw .malformed(at: index)
      case 0x20..<0x80:
        index &+= 1
        fits = fits && text.append(character)
      default:
        try skipUTF8()
        fits = false
      }
    }
  }

  /// Scans one escape from its backslash and returns the character or UTF-16 unit that it stands for.
  @_noLocks @_noAllocation
  private mutating func jsonEscape() throws(DatagramError) -> UInt16 {
    index &+= 1
    let letter = byte
    let character: UInt16
    switch letter {
    case 0x22, 0x5C, 0x2F: character = UInt16(letter)
    case 0x62: character = 0x08
    case 0x66: character = 0x0C
    case 0x6E: character = 0x0A
    case 0x72: character = 0x0D
    case 0x74: character = 0x09
    case 0x75:
      index &+= 1
      return try hexadecimalUnit()
    default: throw .malformed(at: index)
    }
    index &+= 1
    return character
  }

  @_noLocks @_noAllocation
  private mutating func hexadecimalUnit() throws(DatagramError) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      let digit: UInt8
      switch byte {
      case 0x30...0x39: digit = byte &- 0x30
      case 0x41...0x46: digit = byte &- 0x37
      case 0x61...0x66: digit = byte &- 0x57
      default: throw .malformed(at: index)
      }
      unit = unit &<< 4 | UInt16(digit)
      index &+= 1
    }
    return unit
  }

  /// Skips one well-formed sequence of two to four bytes (Unicode 16, table 3-7).
  @_noLocks @_noAllocation
  private mutating func skipUTF8() throws(DatagramError) {
    let start = index
    let lead = byte
    var second: ClosedRange<UInt8> = 0x80...0xBF
    let following: Int
    switch lead {
    case 0xC2...0xDF: following = 1
    case 0xE0...0xEF:
      following = 2
      if lead == 0xE0 { second = 0xA0...0xBF }
      if lead == 0xED { second = 0x80...0x9F }
    case 0xF0...0xF4:
      following = 3
      if lead == 0xF0 { second = 0x90...0xBF }
      if lead == 0xF4 { second = 0x80...0x8F }
    default: throw .notUTF8(at: start)
    }
    index &+= 1
    for offset in 0..<following {
      let allowed = offset == 0 ? second : 0x80...0xBF
      guard allowed.contains(byte) else { throw .notUTF8(at: start) }
      index &+= 1
    }
  }
}
