import CTactus

/// Decimal numbers of any length as text, for ticks.
public enum DecimalText {
  /// The double nearest to the number that `text` holds, by the C library in the C locale; ±infinity beyond the range of doubles.
  ///
  /// - Parameter text: an optional sign, digits, optionally a point with digits and an exponent, which the caller has checked. Never empty.
  @_noLocks @_noAllocation
  public static func double(_ text: UnsafeRawBufferPointer) -> Double {
    let start = text.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: CChar.self)
    return tactus_parse_double(start, text.count)
  }
}
