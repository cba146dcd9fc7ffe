import Tactus
import Wire

extension ByteWriter {
  /// Appends a wheel speed with at most one decimal: `12.5`, `-3`, `0`. Speeds beyond ±100 are clamped; the speed must not be NaN.
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

  /// Appends a number with three decimals: `0.250`, `-1.500`, `0.000`. Numbers beyond ±`Twist.most` are clamped; it must not be NaN.
  @_noLocks @_noAllocation
  mutating func append(thousandthsOf number: Double) {
    precondition(!number.isNaN, "a part of a twist is a number")
    let value = Swift.max(-Twist.most, Swift.min(Twist.most, number))
    let thousandths = UInt64(saturating: value.magnitude * 1_000 + 0.5)
    if value < 0 && thousandths > 0 { append(0x2D) }
    append(decimal: thousandths / 1_000)
    append(0x2E)
    append(decimal: thousandths % 1_000, digits: 3)
  }
}
