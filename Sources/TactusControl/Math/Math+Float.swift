import CTactus

extension Math {
  /// Sine of an angle in radians. NaN for an infinite angle.
  @_noLocks @_noAllocation @inlinable public static func sin(_ radians: Float) -> Float { tactus_sinf(radians) }

  /// Cosine of an angle in radians. NaN for an infinite angle.
  @_noLocks @_noAllocation @inlinable public static func cos(_ radians: Float) -> Float { tactus_cosf(radians) }

  /// Tangent of an angle in radians. NaN for an infinite angle.
  @_noLocks @_noAllocation @inlinable public static func tan(_ radians: Float) -> Float { tactus_tanf(radians) }

  /// Arc sine in radians, −π/2…π/2. NaN outside −1…1.
  @_noLocks @_noAllocation @inlinable public static func asin(_ x: Float) -> Float { tactus_asinf(x) }

  /// Arc cosine in radians, 0…π. NaN outside −1…1.
  @_noLocks @_noAllocation @inlinable public static func acos(_ x: Float) -> Float { tactus_acosf(x) }

  /// Arc tangent in radians, −π/2…π/2.
  @_noLocks @_noAllocation @inlinable public static func atan(_ x: Float) -> Float { tactus_atanf(x) }

  /// Angle of the point (x, y) in radians, −π…π, y first as in C; 0 for the origin.
  @_noLocks @_noAllocation @inlinable public static func atan2(_ y: Float, _ x: Float) -> Float { tactus_atan2f(y, x) }

  /// Hyperbolic sine.
  @_noLocks @_noAllocation @inlinable public static func sinh(_ x: Float) -> Float { tactus_sinhf(x) }

  /// Hyperbolic cosine.
  @_noLocks @_noAllocation @inlinable public static func cosh(_ x: Float) -> Float { tactus_coshf(x) }

  /// Hyperbolic tangent, −1…1.
  @_noLocks @_noAllocation @inlinable public static func tanh(_ x: Float) -> Float { tactus_tanhf(x) }
}
