import TactusControl

/// The resistance of platinum thermometers by IEC 60751 with the Callendar–Van Dusen equation, for −200…850 °C.
enum Platinum {
  private static var a: Double {
    @_noLocks @_noAllocation get { 3.9083e-3 }
  }
  private static var b: Double {
    @_noLocks @_noAllocation get { -5.775e-7 }
  }
  private static var c: Double {
    @_noLocks @_noAllocation get { -4.183e-12 }
  }

  /// Returns the resistance at a temperature in °C, as a multiple of that at 0 °C.
  @_noLocks @_noAllocation
  static func ratio(celsius: Double) -> Double {
    let t = celsius
    return 1 + a * t + b * t * t + (t < 0 ? c * (t - 100) * t * t * t : 0)
  }

  /// Returns the temperature for a resistance ratio: exact from 0 °C up, and within 0.001 °C below. A ratio beyond the range of the
  /// equation gives a temperature above 850 °C or below −200 °C.
  @_noLocks @_noAllocation
  static func celsius(ratio: Double) -> Double {
    let discriminant = a * a - 4 * b * (1 - ratio)
    guard discriminant >= 0 else { return 1_000 }
    var t = (-a + Math.sqrt(discriminant)) / (2 * b)
    guard t < 0 else { return t }
    // Newton's method; the start is off by 2.4 °C at −200 °C.
    for _ in 0..<4 {
      let slope = a + 2 * b * t + c * (4 * t - 300) * t * t
      t -= (Self.ratio(celsius: t) - ratio) / slope
    }
    return t
  }
}
