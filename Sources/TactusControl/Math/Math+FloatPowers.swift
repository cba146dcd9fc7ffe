import CTactus

extension Math {
  /// Returns e to the power x.
  @_noLocks @_noAllocation @inlinable public static func exp(_ x: Float) -> Float { tactus_expf(x) }

  /// Returns 2 to the power x.
  @_noLocks @_noAllocation @inlinable public static func exp2(_ x: Float) -> Float { tactus_exp2f(x) }

  /// Returns exp(x) − 1, exact near 0, where the difference would lose every digit.
  @_noLocks @_noAllocation @inlinable public static func expm1(_ x: Float) -> Float { tactus_expm1f(x) }

  /// Returns the natural logarithm: −∞ for 0, and NaN for a negative number.
  @_noLocks @_noAllocation @inlinable public static func log(_ x: Float) -> Float { tactus_logf(x) }

  /// Returns the logarithm to base 2: −∞ for 0, and NaN for a negative number.
  @_noLocks @_noAllocation @inlinable public static func log2(_ x: Float) -> Float { tactus_log2f(x) }

  /// Returns the logarithm to base 10: −∞ for 0, and NaN for a negative number.
  @_noLocks @_noAllocation @inlinable public static func log10(_ x: Float) -> Float { tactus_log10f(x) }

  /// Returns log(1 + x), exact near 0: −∞ for −1, and NaN for a number below −1.
  @_noLocks @_noAllocation @inlinable public static func log1p(_ x: Float) -> Float { tactus_log1pf(x) }

  /// Returns x to the power y, or NaN if x is negative and y is not a whole number.
  @_noLocks @_noAllocation @inlinable public static func pow(_ x: Float, _ y: Float) -> Float { tactus_powf(x, y) }

  /// Returns the length of the vector (x, y), without overflow in between.
  @_noLocks @_noAllocation @inlinable public static func hypot(_ x: Float, _ y: Float) -> Float { tactus_hypotf(x, y) }

  /// Returns the square root, correctly rounded as by `x.squareRoot()`, or NaN for a negative number.
  @_noLocks @_noAllocation @inlinable public static func sqrt(_ x: Float) -> Float { tactus_sqrtf(x) }

  /// Returns the cube root, also of negative numbers.
  @_noLocks @_noAllocation @inlinable public static func cbrt(_ x: Float) -> Float { tactus_cbrtf(x) }
}
