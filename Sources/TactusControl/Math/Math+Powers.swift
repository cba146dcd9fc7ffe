import CTactus

extension Math {
  /// e to the power x.
  @_noLocks @_noAllocation @inlinable public static func exp(_ x: Double) -> Double { tactus_exp(x) }

  /// 2 to the power x.
  @_noLocks @_noAllocation @inlinable public static func exp2(_ x: Double) -> Double { tactus_exp2(x) }

  /// exp(x) − 1, exact near 0, where the difference would lose every digit.
  @_noLocks @_noAllocation @inlinable public static func expm1(_ x: Double) -> Double { tactus_expm1(x) }

  /// Natural logarithm. −∞ for 0, NaN below.
  @_noLocks @_noAllocation @inlinable public static func log(_ x: Double) -> Double { tactus_log(x) }

  /// Logarithm to base 2. −∞ for 0, NaN below.
  @_noLocks @_noAllocation @inlinable public static func log2(_ x: Double) -> Double { tactus_log2(x) }

  /// Logarithm to base 10. −∞ for 0, NaN below.
  @_noLocks @_noAllocation @inlinable public static func log10(_ x: Double) -> Double { tactus_log10(x) }

  /// log(1 + x), exact near 0. −∞ for −1, NaN below.
  @_noLocks @_noAllocation @inlinable public static func log1p(_ x: Double) -> Double { tactus_log1p(x) }

  /// x to the power y. NaN for a negative x with a y that is not whole.
  @_noLocks @_noAllocation @inlinable public static func pow(_ x: Double, _ y: Double) -> Double { tactus_pow(x, y) }

  /// Length of the vector (x, y), without overflow on the way.
  @_noLocks @_noAllocation @inlinable
  public static func hypot(_ x: Double, _ y: Double) -> Double { tactus_hypot(x, y) }

  /// Square root, correctly rounded: what `x.squareRoot()` gives. NaN below 0.
  @_noLocks @_noAllocation @inlinable public static func sqrt(_ x: Double) -> Double { tactus_sqrt(x) }

  /// Cube root, of negative numbers, too.
  @_noLocks @_noAllocation @inlinable public static func cbrt(_ x: Double) -> Double { tactus_cbrt(x) }
}
