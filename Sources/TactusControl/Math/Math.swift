import CTactus

/// Elementary functions that may be called in a tick: each is proved free of locks and allocations where it is used.
///
/// The results are the C library's, bit for bit, since the C library computes them; README.md has the measured errors.
/// Every value is an argument: outside a function's domain the result is NaN, and NaN leads to NaN except where C says
/// otherwise (`pow(x, 0)` and `pow(1, y)` are 1, `hypot` of an infinity is infinite). Nothing traps and nothing waits.
///
/// The functions are in a namespace, so that `Math.sin` is never ambiguous beside the `sin` of Foundation or Glibc.
public enum Math {
  /// Returns the sine of an angle in radians, or NaN for an infinite angle.
  @_noLocks @_noAllocation @inlinable public static func sin(_ radians: Double) -> Double { tactus_sin(radians) }

  /// Returns the cosine of an angle in radians, or NaN for an infinite angle.
  @_noLocks @_noAllocation @inlinable public static func cos(_ radians: Double) -> Double { tactus_cos(radians) }

  /// Returns the tangent of an angle in radians, or NaN for an infinite angle.
  @_noLocks @_noAllocation @inlinable public static func tan(_ radians: Double) -> Double { tactus_tan(radians) }

  /// Returns the arc sine in radians, −π/2…π/2, or NaN for a number outside −1…1.
  @_noLocks @_noAllocation @inlinable public static func asin(_ x: Double) -> Double { tactus_asin(x) }

  /// Returns the arc cosine in radians, 0…π, or NaN for a number outside −1…1.
  @_noLocks @_noAllocation @inlinable public static func acos(_ x: Double) -> Double { tactus_acos(x) }

  /// Returns the arc tangent in radians, −π/2…π/2.
  @_noLocks @_noAllocation @inlinable public static func atan(_ x: Double) -> Double { tactus_atan(x) }

  /// Returns the angle of the point (x, y) in radians, −π…π, or 0 for the origin. `y` comes first as in C.
  @_noLocks @_noAllocation @inlinable
  public static func atan2(_ y: Double, _ x: Double) -> Double { tactus_atan2(y, x) }

  /// Returns the hyperbolic sine.
  @_noLocks @_noAllocation @inlinable public static func sinh(_ x: Double) -> Double { tactus_sinh(x) }

  /// Returns the hyperbolic cosine.
  @_noLocks @_noAllocation @inlinable public static func cosh(_ x: Double) -> Double { tactus_cosh(x) }

  /// Returns the hyperbolic tangent, −1…1.
  @_noLocks @_noAllocation @inlinable public static func tanh(_ x: Double) -> Double { tactus_tanh(x) }
}
