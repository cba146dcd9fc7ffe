import CTactus

extension Math {
  /// Returns the nearest whole number, with halves rounded away from zero, as `x.rounded()` does.
  @_noLocks @_noAllocation @inlinable public static func round(_ x: Double) -> Double { tactus_round(x) }

  /// Returns the nearest whole number, with halves rounded to the even one, as `x.rounded(.toNearestOrEven)` does.
  @_noLocks @_noAllocation @inlinable public static func roundToEven(_ x: Double) -> Double { tactus_roundeven(x) }

  /// Returns the greatest whole number that is not above x.
  @_noLocks @_noAllocation @inlinable public static func floor(_ x: Double) -> Double { tactus_floor(x) }

  /// Returns the least whole number that is not below x.
  @_noLocks @_noAllocation @inlinable public static func ceil(_ x: Double) -> Double { tactus_ceil(x) }

  /// Returns the whole part of x, without its decimals.
  @_noLocks @_noAllocation @inlinable public static func trunc(_ x: Double) -> Double { tactus_trunc(x) }

  /// Returns x − y × the whole number nearest to x ÷ y, exactly; −|y|/2…|y|/2. Returns NaN if y is 0 or x is infinite.
  /// The computation takes as long as that of `fmod`.
  @_noLocks @_noAllocation @inlinable
  public static func remainder(_ x: Double, _ y: Double) -> Double { tactus_remainder(x, y) }

  /// Returns the remainder of the division truncated toward zero, exactly and with the sign of x, or NaN if y is 0 or x is infinite.
  /// The computation takes longer the farther x is from y: about 10 ns within a few turns, 2 µs for 10³⁰⁸ and 10⁻³⁰⁸.
  @_noLocks @_noAllocation @inlinable
  public static func fmod(_ x: Double, _ y: Double) -> Double { tactus_fmod(x, y) }
}
