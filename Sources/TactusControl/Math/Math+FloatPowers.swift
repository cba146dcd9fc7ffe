import CTactus

extension Math {
  /// e to the power x.
  @_noLocks @_noAllocation @inlinable public static func exp(_ x: Float) -> Float { tactus_expf(x) }

  /// 2 to the power x.
  @_noLocks @_noAllocation @inlinable public static func exp2(_ x: Float) -> Float { tactus_exp2f(x) }

  /// exp(x) − 1, exact near 0, where the difference would lose every digit.
  @_noLocks @_noAllocation @inlinable public static func expm1(_ x: Float) -> Float { tactus_expm1f(x) }

  /// Natural logarithm. −∞ for 0, NaN below.
  @_noLocks @_noAllocation @inlinable public static func log(_ x: Float) -> Float { tactus_logf(x) }

  /// Logarithm to base 2. −∞ for 0, NaN below.
  @_noLocks @_noAllocation @inlinable public static func log2(_ x: Float) -> Float { tactus_log2f(x) }

  /// Logarithm to base 10. −∞ for 0, NaN below.
  @_noLocks @_noAllocation @inlinable public static func log10(_ x: Float) -> Float { tactus_log10f(x) }

  /// log(1 + x), exact near 0. −∞ for −1, NaN below.
  @_noLocks @_noAllocation @inlinable public static func log1p(_ x: Float) -> Float { tactus_log1pf(x) }

  /// x to the power y. NaN for a negative x with a y that is not whole.
  @_noLocks @_noAllocation @inlinable public static func pow(_ x: Float, _ y: Float) -> Float { tactus_powf(x, y) }

  /// Length of the vector (x, y), without overflow on the way.
  @_noLocks @_noAllocation @inlinable public static func hypot(_ x: Float, _ y: Float) -> Float { tactus_hypotf(x, y) }

  /// Square root, correctly rounded: what `x.squareRoot()` gives. NaN below 0.
  @_noLocks @_noAllocation @inlinable public static func sqrt(_ x: Float) -> Float { tactus_sqrtf(x) }

  /// Cube root, of negative numbers, too.
  @_noLocks @_noAllocation @inlinable public static func cbrt(_ x: Float) -> Float { tactus_cbrtf(x) }
}
