import CTactus

extension Math {
  /// Nearest whole number, halves away from zero: what `x.rounded()` gives.
  @_noLocks @_noAllocation @inlinable public static func round(_ x: Float) -> Float { tactus_roundf(x) }

  /// Nearest whole number, halves to the even one: what `x.rounded(.toNearestOrEven)` gives.
  @_noLocks @_noAllocation @inlinable public static func roundToEven(_ x: Float) -> Float { tactus_roundevenf(x) }

  /// Greatest whole number that is not above x.
  @_noLocks @_noAllocation @inlinable public static func floor(_ x: Float) -> Float { tactus_floorf(x) }

  /// Least whole number that is not below x.
  @_noLocks @_noAllocation @inlinable public static func ceil(_ x: Float) -> Float { tactus_ceilf(x) }

  /// Whole part: x without what is behind the point.
  @_noLocks @_noAllocation @inlinable public static func trunc(_ x: Float) -> Float { tactus_truncf(x) }

  /// x − y × the whole number nearest to x ÷ y, exactly; −|y|/2…|y|/2. NaN when y is 0 or x is infinite.
  /// Takes as long as `fmod`.
  @_noLocks @_noAllocation @inlinable
  public static func remainder(_ x: Float, _ y: Float) -> Float { tactus_remainderf(x, y) }

  /// Remainder of the division truncated toward zero, exactly; has the sign of x. NaN when y is 0 or x is infinite.
  /// Takes longer the farther x is from y: about 10 ns within a few turns, 2 µs for 10³⁰⁸ and 10⁻³⁰⁸.
  @_noLocks @_noAllocation @inlinable
  public static func fmod(_ x: Float, _ y: Float) -> Float { tactus_fmodf(x, y) }
}
