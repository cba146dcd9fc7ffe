import CTactus

/// The conversion of decimal numbers of any length from text, for ticks.
public enum DecimalText {
  /// Returns the double nearest to the number in `text`, computed by the C library in the C locale, or ±infinity beyond the range of doubles.
  ///
  /// - Parameter text: an optional sign, digits, and optionally a point with digits and an exponent. The caller has checked this form. Never empty.
  @_noLocks @_noAllocation
  public static func double(_ text: UnsafeRawBufferPointer) -> Double {
    let start = text.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: CChar.self)
    return tactus_parse_double(start, text.count)
  }
}
