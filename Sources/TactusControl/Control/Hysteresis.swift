/// A switch with two thresholds: on at or above the upper one, off at or below the lower one, unchanged between them.
///
/// NaN changes nothing. For a switch that is on below its thresholds, negate the result.
public struct Hysteresis: Sendable, Hashable, BitwiseCopyable {
  /// Whether the switch is on.
  public private(set) var isOn: Bool
  /// The threshold at or below which the switch goes off, in the units of the value.
  public let lower: Double
  /// The threshold at or above which the switch goes on, in the units of the value.
  public let upper: Double

  /// Creates a switch with two thresholds.
  ///
  /// - Throws: `ControlSettingError` for thresholds that are not finite, and for a lower threshold above the upper one. If both
  ///   are equal, the switch is on at the threshold itself.
  @_noLocks @_noAllocation
  public init(lower: Double, upper: Double, isOn: Bool = false) throws(ControlSettingError) {
    try ControlSettingError.check(true, .threshold, upper)
    try ControlSettingError.check(lower <= upper, .threshold, lower)
    (self.lower, self.upper, self.isOn) = (lower, upper, isOn)
  }

  /// Takes a value and returns whether the switch is on afterwards.
  @_noLocks @_noAllocation @discardableResult
  public mutating func step(_ value: Double) -> Bool {
    if value >= upper {
      isOn = true
    } else if value <= lower {
      isOn = false
    }
    return isOn
  }
}
