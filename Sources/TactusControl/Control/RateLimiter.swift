import Tactus

/// Bounds how fast a value may rise and fall: a slew-rate limiter.
///
/// One step is one sample time. An infinite target is approached at the limit; NaN leaves the value where it is.
public struct RateLimiter: Sendable, BitwiseCopyable {
  /// What the last step gave.
  public private(set) var value: Double
  private let rise: Double, fall: Double  // a step

  /// - Parameters:
  ///   - rising: most units a second upward, above 0.
  ///   - falling: most units a second downward, above 0; as `rising` if `nil`.
  ///   - value: where it starts.
  ///   - sampleTime: from one step to the next.
  /// - Throws: `ControlSettingError` for a rate or sample time that is not above 0, and for what is not finite.
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

  /// One step toward `target`; reaches it exactly.
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

  /// Goes to `value` at once; a value that is not finite is ignored.
  @_noLocks @_noAllocation
  public mutating func jump(to value: Double) {
    if value.isFinite { self.value = value }
  }
}
