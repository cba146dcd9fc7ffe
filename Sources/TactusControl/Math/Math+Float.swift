import CTactus

extension Math {
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
