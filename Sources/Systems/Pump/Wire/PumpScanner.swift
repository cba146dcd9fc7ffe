@_spi(FromOutside) import Conversions

/// A position in one line of a pump. The bytes must outlive the scanner.
struct PumpScanner: BitwiseCopyable {
  private let bytes: UnsafeRawBufferPointer
  private(set) var index = 0

  @_noLocks @_noAllocation
  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool {
    @_noLocks @_noAllocation @inline(__always) get { index == bytes.count }
  }

  /// The byte at the position; NUL at the end, because no line may contain a NUL.
  var byte: UInt8 {
    @_noLocks @_noAllocation @inline(__always) get { index < bytes.count ? bytes[index] : 0 }
  }

  var isAtDigit: Bool {
    @_noLocks @_noAllocation get { byte &- 0x30 < 10 }
  }

  @_noLocks @_noAllocation
  mutating func advance() {
    if index < bytes.count { index &+= 1 }
  }

  @_noLocks @_noAllocation
  mutating func skip(_ expected: UInt8) -> Bool {
    guard byte == expected, !isAtEnd else { return false }
    index &+= 1
    return true
  }

  /// Skips spaces and tabs.
  @_noLocks @_noAllocation
  mutating func skipBlanks() {
    while byte == 0x20 || byte == 0x09 { index &+= 1 }
  }

  /// Skips `word` if it is at the position, ignoring case, and returns whether it was. `word` must consist of upper-case letters and signs.
  @_noLocks @_noAllocation
  mutating func skipWord(_ word: StaticString) -> Bool {
    let length = word.utf8CodeUnitCount
    guard length <= bytes.count &- index else { return false }
    for place in 0..<length where upper(bytes[index &+ place]) != word.utf8Start[place] { return false }
    index &+= length
    return true
  }

  /// Reads at least one digit at the position; the value is at most `limit`.
  @_noLocks @_noAllocation
  mutating func whole(limit: Int) throws(PumpLineError) -> Int {
    let start = index
    guard isAtDigit else { throw .malformed(at: start) }
    guard let value = digits(limit: limit) else { throw .outOfRange(at: start) }
    return value
  }

  /// Reads all digits at the position and returns their value, or `nil` if it is more than `limit`.
  @_noLocks @_noAllocation
  mutating func digits(limit: Int) -> Int? {
    var value = 0
    while isAtDigit {
      if value <= limit { value = value &* 10 &+ Int(byte &- 0x30) }
      index &+= 1
    }
    return value <= limit ? value : nil
  }

  /// Returns the result of `atoi` at the position where an `int` has 16 bits: white space, a sign, digits. A value out of range wraps, and without a
  /// digit the result is 0.
  @_noLocks @_noAllocation
  mutating func integer16() -> Int16 {
    while byte == 0x20 || (byte >= 0x09 && byte <= 0x0D) { index &+= 1 }
    let isNegative = skip(0x2D)
    if !isNegative { _ = skip(0x2B) }
    var value: Int16 = 0
    while isAtDigit {
      value = value &* 10 &+ Int16(byte &- 0x30)
      index &+= 1
    }
    return isNegative ? 0 &- value : value
  }

  /// Reads a number with or without decimals, `?`, `nan` or `inf`, and an optional `C` after it. Rounds to tenths, half away from zero.
  @_noLocks @_noAllocation
  mutating func reading() throws(PumpLineError) -> PumpReading {
    skipBlanks()
    let start = index
    if skip(0x3F) {
      _ = skipWord("C")
      return .unknown
    }
    let isNegative = skip(0x2D)
    if !isNegative { _ = skip(0x2B) }
    if skipWord("NAN") || skipWord("INF") || skipWord("OVF") {
      _ = skipWord("C")
      return .unknown
    }
    guard isAtDigit else { throw .malformed(at: index) }
    var value = digits(limit: 10_000) ?? 10_000
    value &*= 10
    if skip(0x2E) {
      guard isAtDigit else { throw .malformed(at: index) }
      value &+= Int(byte &- 0x30)
      index &+= 1
      if isAtDigit, byte >= 0x35 { value &+= 1 }
      _ = digits(limit: 0)
    }
    guard value <= 9_999 else { throw .outOfRange(at: start) }
    _ = skipWord("C")
    return .value(PumpTemperature(tenths: Int32(truncatingIfNeeded: isNegative ? -value : value)))
  }

  @_noLocks @_noAllocation
  private func upper(_ byte: UInt8) -> UInt8 { byte >= 0x61 && byte <= 0x7A ? byte & 0xDF : byte }
}
