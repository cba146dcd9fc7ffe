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
