import Tactus

/// The integral of a value over time by the trapezoidal rule, held within limits.
///
/// One step is one sample time. A step whose input is not finite, or whose result would not be, changes nothing.
public struct Integrator: Sendable, BitwiseCopyable {
  /// The integral, in units × seconds.
  public private(set) var value: Double
  private let minimum: Double, maximum: Double
  private let half: Double  // of the sample time, s
  private var last: Double?

  /// - Parameters:
  ///   - minimum: lower limit of the integral in units × seconds, which may be infinite.
  ///   - maximum: upper limit, above the lower one.
  ///   - sampleTime: from one step to the next, above 0.
  ///   - value: where it starts; taken within the limits.
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

  /// Adds the area between the last input and this one; the first input adds nothing.
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

  /// Starts again at `value`, taken within the limits (0 if it is not finite); the next input is a first one.
  @_noLocks @_noAllocation
  public mutating func reset(to value: Double = 0) {
    self.value = Math.clamp(value.isFinite ? value : 0, from: minimum, to: maximum)
    last = nil
  }
}
