/// Writes ASCII into a caller's buffer. Writing past its end is our bug: callers check for their longest text first.
struct ByteWriter {
  let buffer: UnsafeMutableRawBufferPointer
  private(set) var count = 0

  @_noLocks @_noAllocation
  init(_ buffer: UnsafeMutableRawBufferPointer) { self.buffer = buffer }

  @_noLocks @_noAllocation @inline(__always)
  mutating func append(_ byte: UInt8) {
    precondition(count < buffer.count, "the buffer is too small")
    buffer[count] = byte
    count &+= 1
  }

  @_noLocks @_noAllocation
  mutating func append(_ text: StaticString) {
    let length = text.utf8CodeUnitCount
    precondition(length <= buffer.count &- count, "the buffer is too small")
    for index in 0..<length { buffer[count &+ index] = text.utf8Start[index] }
    count &+= length
  }

  @_noLocks @_noAllocation
  mutating func append(_ text: ShortText) {
    for index in 0..<text.count { append(text[index]) }
  }

  @_noLocks @_noAllocation
  mutating func append(decimal number: UInt64) {
    var digits = 1
    var rest = number / 10
    while rest > 0 {
      rest /= 10
      digits &+= 1
    }
    append(decimal: number, digits: digits)
  }

  /// The lowest `digits` digits with leading zeros: the fraction of a decimal number.
  @_noLocks @_noAllocation
  mutating func append(decimal number: UInt64, digits: Int) {
    precondition(digits <= buffer.count &- count, "the buffer is too small")
    var rest = number
    var place = count &+ digits
    // From the last digit up: division by a constant is a multiplication.
    while place > count {
      place &-= 1
      buffer[place] = 0x30 &+ UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
    count &+= digits
  }

  /// A wheel speed with at most one decimal: `12.5`, `-3`, `0`. Beyond ±100 it is clamped; it must not be NaN.
  @_noLocks @_noAllocation
  mutating func append(tenthsOf percent: Percent) {
    precondition(!percent.value.isNaN, "a wheel speed is a number")
    let value = Swift.max(-100, Swift.min(100, percent.value))
    // Half away from zero; `rounded()` may be a call into the C library.
    let tenths = UInt64(saturating: value.magnitude * 10 + 0.5)
    if value < 0 && tenths > 0 { append(0x2D) }
    append(decimal: tenths / 10)
    if tenths % 10 > 0 {
      append(0x2E)
      append(0x30 + UInt8(truncatingIfNeeded: tenths % 10))
    }
  }
}
