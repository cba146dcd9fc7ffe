import Tactus

/// A slew-rate limiter, which limits how fast a value may rise and fall.
///
/// One step is one sample time. An infinite target is approached at the limit; NaN leaves the value unchanged.
public struct RateLimiter: Sendable, BitwiseCopyable {
  /// The result of the last step.
  public private(set) var value: Double
  private let rise: Double, fall: Double  // a step

  /// Creates a limiter with the greatest change in each direction.
  ///
  /// - Parameters:
  ///   - rising: the greatest upward change in units per second, above 0.
  ///   - falling: the greatest downward change in units per second, above 0, or `nil` for the same as `rising`.
  ///   - value: the initial value.
  ///   - sampleTime: the time from one step to the next.
  /// - Throws: `ControlSettingError` for a rate or sample time that is not above 0, and for a number that is not finite.
  @_noLocks @_noAllocation
  public init(
    rising: Double, falling: Double? = nil, from value: Double = 0, sampleTime: Nanoseconds
  ) throws(ControlSettingError) {
    let falling = falling ?? rising
    let step = sampleTime.inSeconds
    try ControlSettingError.check(rising > 0, .rate, rising)
    try ControlSettingError.check(falling > 0, .rate, falling)
    try ControlSettingError.check(step > 0, .sampleTime, step)
    try ControlSettingError.check(true, .value, value)
    (rise, fall) = (rising * step, falling * step)
    self.value = value
  }

  /// Takes one step toward `target` and returns the new value. The target is reached exactly.
  @_noLocks @_noAllocation
  public mutating func step(toward target: Double) -> Double {
    let change = target - value
    if change > rise {
      value += rise
    } else if change < -fall {
      value -= fall
    } else if !change.isNaN {
      value = target
    }
    return value
  }

  /// Sets the value to `value` immediately. A value that is not finite is ignored.
  @_noLocks @_noAllocation
  public mutating func jump(to value: Double) {
    if value.isFinite { self.value = value }
  }
}
