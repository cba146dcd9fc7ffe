/// A switch with two thresholds: on at or above the upper one, off at or below the lower one, unchanged between them.
///
/// NaN changes nothing. For a switch that is on below, negate the result.
public struct Hysteresis: Sendable, Hashable, BitwiseCopyable {
  public private(set) var isOn: Bool
  public let lower: Double, upper: Double

  /// - Throws: `ControlSettingError` for thresholds that are not finite, or a lower one above the upper one. When they
  ///   are equal, the value itself is on.
  @_noLocks @_noAllocation
  public init(lower: Double, upper: Double, isOn: Bool = false) throws(ControlSettingError) {
    try ControlSettingError.check(true, .threshold, upper)
    try ControlSettingError.check(lower <= upper, .threshold, lower)
    (self.lower, self.upper, self.isOn) = (lower, upper, isOn)
  }

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
