import CTactus

extension Math {
  /// Returns e to the power x.
  @_noLocks @_noAllocation @inlinable public static func exp(_ x: Double) -> Double { tactus_exp(x) }

  /// Returns 2 to the power x.
  @_noLocks @_noAllocation @inlinable public static func exp2(_ x: Double) -> Double { tactus_exp2(x) }

  /// Returns exp(x) − 1, exact near 0, where the difference would lose every digit.
  @_noLocks @_noAllocation @inlinable public static func expm1(_ x: Double) -> Double { tactus_expm1(x) }

  /// Returns the natural logarithm: −∞ for 0, and NaN for a negative number.
  @_noLocks @_noAllocation @inlinable public static func log(_ x: Double) -> Double { tactus_log(x) }

  /// Returns the logarithm to base 2: −∞ for 0, and NaN for a negative number.
  @_noLocks @_noAllocation @inlinable public static func log2(_ x: Double) -> Double { tactus_log2(x) }

  /// Returns the logarithm to base 10: −∞ for 0, and NaN for a negative number.
  @_noLocks @_noAllocation @inlinable public static func log10(_ x: Double) -> Double { tactus_log10(x) }

  /// Returns log(1 + x), exact near 0: −∞ for −1, and NaN for a number below −1.
  @_noLocks @_noAllocation @inlinable public static func log1p(_ x: Double) -> Double { tactus_log1p(x) }

  /// Returns x to the power y, or NaN if x is negative and y is not a whole number.
  @_noLocks @_noAllocation @inlinable public static func pow(_ x: Double, _ y: Double) -> Double { tactus_pow(x, y) }

  /// Returns the length of the vector (x, y), without overflow in between.
  @_noLocks @_noAllocation @inlinable
  public static func hypot(_ x: Double, _ y: Double) -> Double { tactus_hypot(x, y) }

  /// Returns the square root, correctly rounded as by `x.squareRoot()`, or NaN for a negative number.
  @_noLocks @_noAllocation @inlinable public static func sqrt(_ x: Double) -> Double { tactus_sqrt(x) }

  /// Returns the cube root, also of negative numbers.
  @_noLocks @_noAllocation @inlinable public static func cbrt(_ x: Double) -> Double { tactus_cbrt(x) }
}
