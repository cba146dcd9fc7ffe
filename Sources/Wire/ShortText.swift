@_spi(FromOutside) import Conversions

/// Up to 32 characters of printable ASCII by value, without `"` and `\`, so that JSON needs no escapes.
public struct ShortText: Sendable, Hashable, BitwiseCopyable {
  /// The greatest number of characters, 32.
  public static var capacity: Int {
    @_noLocks @_noAllocation @inline(__always) @inlinable get { 32 }
  }
  // Eight characters a word, the first in the lowest byte; unused bytes are zero, so that comparing words compares text.
  @usableFromInline var word0: UInt64 = 0
  @usableFromInline var word1: UInt64 = 0
  @usableFromInline var word2: UInt64 = 0
  @usableFromInline var word3: UInt64 = 0
  @usableFromInline var length = 0

  /// The number of characters in use, 0…32.
  public var count: Int {
    @_noLocks @_noAllocation @inline(__always) @inlinable get { length }
  }

  /// Creates an empty text.
  @_noLocks @_noAllocation
  @inlinable public init() {}

  /// Creates a text from `text`, which must consist of at most 32 allowed characters.
  @_noLocks @_noAllocation @inline(__always)
  @inlinable public init(_ text: StaticString) {
    for index in 0..<text.utf8CodeUnitCount {
      let isAppended = append(text.utf8Start[index])
      precondition(isAppended, "short text is at most 32 printable ASCII characters without quote and backslash")
    }
  }

  /// Appends a character. Returns `false`, without a change, if the text is full or the character is not allowed.
  @_noLocks @_noAllocation @inline(__always)
  @inlinable public mutating func append(_ character: UInt8) -> Bool {
    guard count < Self.capacity, Self.allows(character) else { return false }
    let bits = UInt64(character) &<< UInt64(clamping: (count & 7) &* 8)
    switch count &>> 3 {
    case 0: word0 |= bits
    case 1: word1 |= bits
    case 2: word2 |= bits
    default: word3 |= bits
    }
    length &+= 1
    return true
  }

  /// Appends the lowest `count` bytes of `word`, without checking that they are allowed. The present text must fill whole words and must not be full.
  @_noLocks @_noAllocation @inline(__always)
  @inlinable public mutating func appendWord(_ word: UInt64, count added: Int) {
    let kept = added == 8 ? word : word & ((1 &<< UInt64(clamping: added &* 8)) &- 1)
    switch count &>> 3 {
    case 0: word0 = kept
    case 1: word1 = kept
    case 2: word2 = kept
    default: word3 = kept
    }
    length &+= added
  }

  /// Returns the number of allowed bytes of the word, from the lowest up to the first that is not allowed: 0…8.
  @_noLocks @_noAllocation @inline(__always)
  @inlinable public static func allowedPrefix(of word: UInt64) -> Int {
    // `zeros(x)` marks the lowest zero byte of x exactly; marks above it may be false, and do not matter here.
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs: UInt64 = 0x8080_8080_8080_8080
    func zeros(_ value: UInt64) -> UInt64 { (value &- ones) & ~value }
    let control = (word &- ones &* 0x20) & ~word
    let refused = control | word | zeros(word ^ ones &* 0x22) | zeros(word ^ ones &* 0x5C) | zeros(word ^ ones &* 0x7F)
    return (refused & highs).trailingZeroBitCount &>> 3
  }

  /// The ASCII code of character `index`, 0..<`count`.
  public subscript(index: Int) -> UInt8 {
    @_noLocks @_noAllocation @inlinable get {
      precondition(index >= 0 && index < count)
      let word =
        switch index &>> 3 {
        case 0: word0
        case 1: word1
        case 2: word2
        default: word3
        }
      return UInt8(truncatingIfNeeded: word &>> UInt64(clamping: (index & 7) &* 8))
    }
  }

  @_noLocks @_noAllocation @inline(__always)
  @inlinable public static func == (left: Self, right: Self) -> Bool {
    left.count == right.count && left.word0 == right.word0 && left.word1 == right.word1 && left.word2 == right.word2
      && left.word3 == right.word3
  }

  /// Returns whether the text can contain `character`, which must be printable ASCII except `"` and `\`.
  @_noLocks @_noAllocation @inline(__always)
  @inlinable public static func allows(_ character: UInt8) -> Bool {
    character >= 0x20 && character < 0x7F && character != 0x22 && character != 0x5C
  }
}

extension ShortText: CustomStringConvertible {
  public var description: String { String(decoding: (0..<count).map { self[$0] }, as: UTF8.self) }
}
