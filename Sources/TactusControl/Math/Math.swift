import CTactus
import Tactus

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

  /// Returns the sine of an angle in radians, or NaN for an infinite angle.
  @_noLocks @_noAllocation @inlinable public static func sin(_ radians: Float) -> Float { tactus_sinf(radians) }

  /// Returns the cosine of an angle in radians, or NaN for an infinite angle.
  @_noLocks @_noAllocation @inlinable public static func cos(_ radians: Float) -> Float { tactus_cosf(radians) }

  /// Returns the tangent of an angle in radians, or NaN for an infinite angle.
  @_noLocks @_noAllocation @inlinable public static func tan(_ radians: Float) -> Float { tactus_tanf(radians) }

  /// Returns the arc sine in radians, −π/2…π/2, or NaN for a number outside −1…1.
  @_noLocks @_noAllocation @inlinable public static func asin(_ x: Float) -> Float { tactus_asinf(x) }

  /// Returns the arc cosine in radians, 0…π, or NaN for a number outside −1…1.
  @_noLocks @_noAllocation @inlinable public static func acos(_ x: Float) -> Float { tactus_acosf(x) }

  /// Returns the arc tangent in radians, −π/2…π/2.
  @_noLocks @_noAllocation @inlinable public static func atan(_ x: Float) -> Float { tactus_atanf(x) }

  /// Returns the angle of the point (x, y) in radians, −π…π, or 0 for the origin. `y` comes first as in C.
  @_noLocks @_noAllocation @inlinable public static func atan2(_ y: Float, _ x: Float) -> Float { tactus_atan2f(y, x) }

  /// Returns the hyperbolic sine.
  @_noLocks @_noAllocation @inlinable public static func sinh(_ x: Float) -> Float { tactus_sinhf(x) }

  /// Returns the hyperbolic cosine.
  @_noLocks @_noAllocation @inlinable public static func cosh(_ x: Float) -> Float { tactus_coshf(x) }

  /// Returns the hyperbolic tangent, −1…1.
  @_noLocks @_noAllocation @inlinable public static func tanh(_ x: Float) -> Float { tactus_tanhf(x) }
}

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

extension Math {
  /// Returns `x` limited to `least`…`greatest`. NaN stays NaN. If `least` is above `greatest` the result is `greatest`.
  @_noLocks @_noAllocation @inlinable
  public static func clamp(_ x: Double, from least: Double, to greatest: Double) -> Double {
    let atLeast = x < least ? least : x
    return greatest < atLeast ? greatest : atLeast
  }

  /// Returns `x` limited to `least`…`greatest`. NaN stays NaN. If `least` is above `greatest` the result is `greatest`.
  @_noLocks @_noAllocation @inlinable
  public static func clamp(_ x: Float, from least: Float, to greatest: Float) -> Float {
    let atLeast = x < least ? least : x
    return greatest < atLeast ? greatest : atLeast
  }

  /// Returns the whole number nearest to `x`, with halves rounded away from zero, limited to the range of `Int`, or `nil` for NaN.
  ///
  /// The result is exact up to 2⁵³. `Int16(clamping:)` and similar initialisers, which may be called in a tick, narrow it further.
  @_noLocks @_noAllocation @inlinable
  public static func integer(_ x: Double) -> Int? {
    guard !x.isNaN else { return nil }
    let whole = round(x)
    guard whole < 0x1p63 else { return .max }
    guard whole > -0x1p63 else { return .min }
    return Int(whole)
  }

  /// Returns the whole number nearest to `x`, with halves rounded away from zero, limited to the range of `Int`, or `nil` for NaN.
  @_noLocks @_noAllocation @inlinable
  public static func integer(_ x: Float) -> Int? { integer(Double(x)) }

  /// Returns the same direction as an angle within −π…π, or NaN for an infinite angle.
  @_noLocks @_noAllocation @inlinable
  public static func wrapped(_ radians: Double) -> Double { remainder(radians, 2 * .pi) }

  /// Returns the same direction as an angle within −π…π, or NaN for an infinite angle.
  ///
  /// The result is computed in Double: a full turn in Float is 1.7 × 10⁻⁷ too long, which adds up over many turns.
  @_noLocks @_noAllocation @inlinable
  public static func wrapped(_ radians: Float) -> Float { Float(wrapped(Double(radians))) }

  /// Returns the shortest turn from one direction to another, −π…π, positive counter-clockwise.
  @_noLocks @_noAllocation @inlinable
  public static func turn(from start: Double, to end: Double) -> Double { wrapped(end - start) }

  /// Returns the shortest turn from one direction to another, −π…π, positive counter-clockwise.
  @_noLocks @_noAllocation @inlinable
  public static func turn(from start: Float, to end: Float) -> Float { Float(wrapped(Double(end) - Double(start))) }
}

extension Nanoseconds {
  /// Converts seconds, rounded to the nearest nanosecond, for use in a tick. Beyond ±292 years the result is the longest span, and
  /// for NaN it is `nil`. `inSeconds` converts back.
  @_noLocks @_noAllocation @inlinable
  public init?(clampingSeconds seconds: Double) {
    guard let count = Math.integer(seconds * 1e9) else { return nil }
    self.init(Int64(count))
  }
}
