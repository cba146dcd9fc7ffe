/// Writes ASCII into a caller's buffer, in a tick.
///
/// The buffer must outlive the writer. Writing beyond its end traps, so callers first check that their longest text fits.
public struct ByteWriter {
  @usableFromInline let buffer: UnsafeMutableRawBufferPointer
  @usableFromInline var written = 0

  /// The number of bytes written so far.
  public var count: Int {
    @_noLocks @_noAllocation @inlinable get { written }
  }

  /// Creates a writer that begins at the first byte of `buffer`.
  @_noLocks @_noAllocation
  @inlinable public init(_ buffer: UnsafeMutableRawBufferPointer) { self.buffer = buffer }

  /// Appends one byte.
  @_noLocks @_noAllocation @inline(__always)
  @inlinable public mutating func append(_ byte: UInt8) {
    precondition(written < buffer.count, "the buffer is too small")
    buffer[written] = byte
    written &+= 1
  }

  /// Appends a literal.
  @_noLocks @_noAllocation
  @inlinable public mutating func append(_ text: StaticString) {
    let length = text.utf8CodeUnitCount
    precondition(length <= buffer.count &- written, "the buffer is too small")
    for index in 0..<length { buffer[written &+ index] = text.utf8Start[index] }
    written &+= length
  }

  /// Appends all characters of `text`, without quotes.
  @_noLocks @_noAllocation
  @inlinable public mutating func append(_ text: ShortText) {
    for index in 0..<text.count { append(text[index]) }
  }

  /// Appends a whole number in decimal, without leading zeros.
  @_noLocks @_noAllocation
  @inlinable public mutating func append(decimal number: UInt64) {
    var digits = 1
    var rest = number / 10
    while rest > 0 {
      rest /= 10
      digits &+= 1
    }
    append(decimal: number, digits: digits)
  }

  /// Appends the lowest `digits` digits with leading zeros, as for the fraction of a decimal number.
  @_noLocks @_noAllocation
  @inlinable public mutating func append(decimal number: UInt64, digits: Int) {
    precondition(digits <= buffer.count &- written, "the buffer is too small")
    var rest = number
    var place = written &+ digits
    // The digits are written from the last to the first. The compiler turns division by a constant into a multiplication.
    while place > written {
      place &-= 1
      buffer[place] = 0x30 &+ UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
    written &+= digits
  }
}
