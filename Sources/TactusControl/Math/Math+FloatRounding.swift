import CTactus

extension Math {
  /// Returns the nearest whole number, with halves rounded away from zero, as `x.rounded()` does.
  @_noLocks @_noAllocation @inlinable public static func round(_ x: Float) -> Float { tactus_roundf(x) }

  /// Returns the nearest whole number, with halves rounded to the even one, as `x.rounded(.toNearestOrEven)` does.
  @_noLocks @_noAllocation @inlinable public static func roundToEven(_ x: Float) -> Float { tactus_roundevenf(x) }

  /// Returns the greatest whole number that is not above x.
  @_noLocks @_noAllocation @inlinable public static func floor(_ x: Float) -> Float { tactus_floorf(x) }

  /// Returns the least whole number that is not below x.
  @_noLocks @_noAllocation @inlinable public static func ceil(_ x: Float) -> Float { tactus_ceilf(x) }

  /// Returns the whole part of x, without its decimals.
  @_noLocks @_noAllocation @inlinable public static func trunc(_ x: Float) -> Float { tactus_truncf(x) }

  /// Returns x − y × the whole number nearest to x ÷ y, exactly; −|y|/2…|y|/2. Returns NaN if y is 0 or x is infinite.
  /// The computation takes as long as that of `fmod`.
  @_noLocks @_noAllocation @inlinable
  public static func remainder(_ x: Float, _ y: Float) -> Float { tactus_remainderf(x, y) }

  /// Returns the remainder of the division truncated toward zero, exactly and with the sign of x, or NaN if y is 0 or x is infinite.
  /// The computation takes longer the farther x is from y: about 10 ns within a few turns, 2 µs for 10³⁰⁸ and 10⁻³⁰⁸.
  @_noLocks @_noAllocation @inlinable
  public static func fmod(_ x: Float, _ y: Float) -> Float { tactus_fmodf(x, y) }
}
