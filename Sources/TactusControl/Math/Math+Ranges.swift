extension Math {
  /// `x` within `least`…`greatest`; NaN stays NaN. When `least` is above `greatest` the result is `greatest`.
  @_noLocks @_noAllocation @inlinable
  public static func clamp(_ x: Double, from least: Double, to greatest: Double) -> Double {
    let atLeast = x < least ? least : x
    return greatest < atLeast ? greatest : atLeast
  }

  /// `x` within `least`…`greatest`; NaN stays NaN. When `least` is above `greatest` the result is `greatest`.
  @_noLocks @_noAllocation @inlinable
  public static func clamp(_ x: Float, from least: Float, to greatest: Float) -> Float {
    let atLeast = x < least ? least : x
    return greatest < atLeast ? greatest : atLeast
  }

  /// The whole number nearest to `x`, halves away from zero, the nearest `Int` where there is none; `nil` for NaN.
  ///
  /// The result is exact up to 2⁵³; `Int16(clamping:)` and its kind take it further down, in a tick, too.
  @_noLocks @_noAllocation @inlinable
  public static func integer(_ x: Double) -> Int? {
    guard !x.isNaN else { return nil }
    let whole = round(x)
    guard whole < 0x1p63 else { return .max }
    guard whole > -0x1p63 else { return .min }
    return Int(whole)
  }

  /// The whole number nearest to `x`, halves away from zero, the nearest `Int` where there is none; `nil` for NaN.
  @_noLocks @_noAllocation @inlinable
  public static func integer(_ x: Float) -> Int? { integer(Double(x)) }

  /// The same direction within −π…π. NaN for an infinite angle.
  @_noLocks @_noAllocation @inlinable
  public static func wrapped(_ radians: Double) -> Double { remainder(radians, 2 * .pi) }

  /// The same direction within −π…π. NaN for an infinite angle.
  ///
  /// Computed in Double: a turn of Floats is 1.7 × 10⁻⁷ too long, which adds up over many turns.
  @_noLocks @_noAllocation @inlinable
  public static func wrapped(_ radians: Float) -> Float { Float(wrapped(Double(radians))) }

  /// The shortest turn that leads from one direction to another, −π…π, positive counter-clockwise.
  @_noLocks @_noAllocation @inlinable
  public static func turn(from start: Double, to end: Double) -> Double { wrapped(end - start) }

  /// The shortest turn that leads from one direction to another, −π…π, positive counter-clockwise.
  @_noLocks @_noAllocation @inlinable
  public static func turn(from start: Float, to end: Float) -> Float { Float(wrapped(Double(end) - Double(start))) }
}
