import Tactus

/// The integral of a value over time by the trapezoidal rule, kept within limits.
///
/// One step is one sample time. A step whose input or result is not finite changes nothing.
public struct Integrator: Sendable, BitwiseCopyable {
  /// The integral, in units × seconds.
  public private(set) var value: Double
  private let minimum: Double, maximum: Double
  private let half: Double  // of the sample time, s
  private var last: Double?

  /// Creates an integrator with the limits of its integral.
  ///
  /// - Parameters:
  ///   - value: the initial integral, which is limited to the range.
  ///   - minimum: the lower limit of the integral in units × seconds, which may be infinite.
  ///   - maximum: the upper limit, above the lower one.
  ///   - sampleTime: the time from one step to the next, above 0.
  /// - Throws: `ControlSettingError` for a sample time that is not above 0, a minimum not below the maximum, and an
  ///   initial value that is not finite.
  @_noLocks @_noAllocation
  public init(
    from value: Double = 0, minimum: Double = -.infinity, maximum: Double = .infinity, sampleTime: Nanoseconds
  ) throws(ControlSettingError) {
    let step = sampleTime.inSeconds
    try ControlSettingError.check(step > 0, .sampleTime, step)
    try ControlSettingError.check(true, .value, value)
    guard minimum < maximum else { throw ControlSettingError(.limit, minimum) }
    (self.minimum, self.maximum, half) = (minimum, maximum, step / 2)
    self.value = Math.clamp(value, from: minimum, to: maximum)
  }

  /// Adds the area between the last input and this one, and returns the integral. The first input adds nothing.
  @_noLocks @_noAllocation
  public mutating func step(_ input: Double) -> Double {
    guard input.isFinite else { return value }
    if let last {
      let sum = value + half * (last + input)
      guard sum.isFinite else { return value }
      value = Math.clamp(sum, from: minimum, to: maximum)
    }
    last = input
    return value
  }

  /// Restarts the integral at `value`, limited to the range, or at 0 if `value` is not finite. The next input counts as the first.
  @_noLocks @_noAllocation
  public mutating func reset(to value: Double = 0) {
    self.value = Math.clamp(value.isFinite ? value : 0, from: minimum, to: maximum)
    last = nil
  }
}
