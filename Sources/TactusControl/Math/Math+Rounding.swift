import CTactus

extension Math {
  /// Nearest whole number, halves away from zero: what `x.rounded()` gives.
  @_noLocks @_noAllocation @inlinable public static func round(_ x: Double) -> Double { tactus_round(x) }

  /// Nearest whole number, halves to the even one: what `x.rounded(.toNearestOrEven)` gives.
  @_noLocks @_noAllocation @inlinable public static func roundToEven(_ x: Double) -> Double { tactus_roundeven(x) }

  /// Greatest whole number that is not above x.
  @_noLocks @_noAllocation @inlinable public static func floor(_ x: Double) -> Double { tactus_floor(x) }

  /// Least whole number that is not below x.
  @_noLocks @_noAllocation @inlinable public static func ceil(_ x: Double) -> Double { tactus_ceil(x) }

  /// Whole part: x without what is behind the point.
  @_noLocks @_noAllocation @inlinable public static func trunc(_ x: Double) -> Double { tactus_trunc(x) }

  /// x − y × the whole number nearest to x ÷ y, exactly; −|y|/2…|y|/2. NaN when y is 0 or x is infinite.
  /// Takes as long as `fmod`.
  @_noLocks @_noAllocation @inlinable
  public static func remainder(_ x: Double, _ y: Double) -> Double { tactus_remainder(x, y) }

  /// Remainder of the division truncated toward zero, exactly; has the sign of x. NaN when y is 0 or x is infinite.
  /// Takes longer the farther x is from y: about 10 ns within a few turns, 2 µs for 10³⁰⁸ and 10⁻³⁰⁸.
  @_noLocks @_noAllocation @inlinable
  public static func fmod(_ x: Double, _ y: Double) -> Double { tactus_fmod(x, y) }
}
