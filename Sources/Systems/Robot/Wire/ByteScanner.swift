@_spi(FromOutside) import Conversions
import Wire

/// A position in received bytes. The bytes must outlive the scanner.
struct ByteScanner: BitwiseCopyable {
  let bytes: UnsafeRawBufferPointer
  var index = 0

  @_noLocks @_noAllocation
  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool {
    @_noLocks @_noAllocation @inline(__always) get { index == bytes.count }
  }

  /// The byte at the current position, or NUL at the end; no grammar of this module allows NUL anywhere.
  var byte: UInt8 {
    @_noLocks @_noAllocation @inline(__always) get { index < bytes.count ? bytes[index] : 0 }
  }

  /// Skips space, tab, CR and LF: the white space of JSON and of the CSV form.
  @_noLocks @_noAllocation @inline(__always)
  mutating func skipWhiteSpace() {
    while byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A { index &+= 1 }
  }

  /// Skips `expected` if it is the next byte, and returns whether it was.
  @_noLocks @_noAllocation @inline(__always)
  mutating func skip(_ expected: UInt8) -> Bool {
    guard byte == expected else { return false }
    index &+= 1
    return true
  }

  @_noLocks @_noAllocation @inline(__always)
  mutating func require(_ expected: UInt8) throws(DatagramError) {
    guard skip(expected) else { throw .malformed(at: index) }
  }
}

/// A decimal number scanned from text.
struct DecimalNumber: BitwiseCopyable {
  /// The nearest double, or ±infinity if the number is beyond the range of doubles.
  var value: Double
  /// The exact value, or `nil` unless the text consists of digits only, at most 19 of them significant.
  var digits: UInt64?
}

extension ByteScanner {
  /// Scans and returns a JSON number (RFC 8259 §6).
  @_noLocks @_noAllocation
  mutating func jsonNumber() throws(DatagramError) -> DecimalNumber {
    var token = DecimalToken(start: index)
    token.isNegative = skip(0x2D)
    if !skip(0x30) { try token.scanDigits(&self) }
    if skip(0x2E) { try token.scanFraction(&self) }
    if byte | 0x20 == 0x65 { try token.scanExponent(&self) }
    return token.number(in: bytes, end: index)
  }

  /// Scans and returns a number of the CSV form: an optional sign, digits (leading zeros allowed), optionally a point and more digits.
  @_noLocks @_noAllocation
  mutating func csvNumber() throws(DatagramError) -> DecimalNumber {
    var token = DecimalToken(start: index)
    token.isNegative = skip(0x2D)
    if !token.isNegative { _ = skip(0x2B) }
    try token.scanDigits(&self)
    if skip(0x2E) { try token.scanFraction(&self) }
    return token.number(in: bytes, end: index)
  }
}

/// The digits of a number during scanning: `mantissa` × 10^`exponent`, exact as long as `significant` ≤ 19.
private struct DecimalToken {
  let start: Int
  var isNegative = false
  var isInteger = true
  var mantissa: UInt64 = 0
  var significant = 0
  var exponent = 0

  @_noLocks @_noAllocation
  init(start: Int) { self.start = start }

  /// Scans one or more digits.
  @_noLocks @_noAllocation @inline(__always)
  mutating func scanDigits(_ scanner: inout ByteScanner) throws(DatagramError) {
    let first = scanner.index
    while true {
      let digit = scanner.byte &- 0x30
      guard digit < 10 else { break }
      mantissa = mantissa &* 10 &+ UInt64(digit)
      // Leading zeros are not significant. Past 19 the mantissa has wrapped and is not used.
      if mantissa != 0 || significant > 0 { significant &+= 1 }
      scanner.index &+= 1
    }
    guard scanner.index > first else { throw .malformed(at: first) }
  }

  @_noLocks @_noAllocation @inline(__always)
  mutating func scanFraction(_ scanner: inout ByteScanner) throws(DatagramError) {
    isInteger = false
    let first = scanner.index
    try scanDigits(&scanner)
    exponent = first &- scanner.index
  }

  @_noLocks @_noAllocation
  mutating func scanExponent(_ scanner: inout ByteScanner) throws(DatagramError) {
    isInteger = false
    scanner.index &+= 1
    let isNegative = scanner.skip(0x2D)
    if !isNegative { _ = scanner.skip(0x2B) }
    let first = scanner.index
    var magnitude = 0
    while true {
      let digit = scanner.byte &- 0x30
      guard digit < 10 else { break }
      // Far outside ±22 the exact path is not taken anyway.
      magnitude = min(magnitude &* 10 &+ Int(digit), 100_000)
      scanner.index &+= 1
    }
    guard scanner.index > first else { throw .malformed(at: first) }
    exponent &+= isNegative ? -magnitude : magnitude
  }

  /// Returns the number scanned so far. If the mantissa is at most 2⁵³ and the power of ten at most 10²², both are exact doubles and one
  /// correctly rounded operation is enough; otherwise the C library converts the text.
  @_noLocks @_noAllocation @inline(__always)
  func number(in bytes: UnsafeRawBufferPointer, end: Int) -> DecimalNumber {
    let fits = significant <= 19
    let digits = isInteger && fits && !isNegative ? mantissa : nil
    if fits && mantissa <= 9_007_199_254_740_992 && exponent >= -22 && exponent <= 22 {
      var power = 1.0
      for _ in 0..<exponent.magnitude { power *= 10 }
      let magnitude = exponent < 0 ? Double(mantissa) / power : Double(mantissa) * power
      return DecimalNumber(value: isNegative ? -magnitude : magnitude, digits: digits)
    }
    let text = UnsafeRawBufferPointer(start: bytes.baseAddress.unsafelyUnwrapped + start, count: end &- start)
    return DecimalNumber(value: DecimalText.double(text), digits: digits)
  }
}
