import Tactus

/// Gains, limits and sample time of a `PID`, checked and prepared for stepping.
///
/// The gains are those of the parallel form, u = P·e + I·∫e − D·dy/dt, of any sign. Settings can be created outside a tick and
/// handed over through a `Latest`, or in a tick where gains follow the working point.
public struct PIDSettings: Sendable, BitwiseCopyable {
  /// The behaviour of the integral part while the output is at a limit.
  public enum AntiWindup: Sendable, Hashable, BitwiseCopyable {
    /// The integral part stays unchanged as long as the error would drive the output further beyond the limit (clamping).
    case conditional
    /// The integral part is led back so that the output returns from beyond the limit with this time constant, which is at least
    /// the sample time. Åström and Hägglund advise √(Ti·Td), or Ti without a derivative.
    case backCalculation(trackingTime: Nanoseconds)
  }

  // Only what a step needs, prepared, so that many controllers fit into the cache. Factors of neighbouring terms are
  // not neighbours here: the optimiser would make pairs of them, and the wide load of a number that has just been
  // stored stalls for 10 ns.
  @usableFromInline let proportional: Double
  @usableFromInline let setpointWeight: Double
  @usableFromInline let slopeDecay: Double  // of the filtered derivative, a step
  @usableFromInline let derivative: Double
  @usableFromInline let minimumOutput: Double
  @usableFromInline let slopeGain: Double  // 1/s
  @usableFromInline let maximumOutput: Double
  @usableFromInline let integralGain: Double  // a step: integral × sample time
  @usableFromInline let trackingGain: Double  // 0…1; 0: conditional

  /// Checks and prepares the settings of a `PID`.
  ///
  /// - Parameters:
  ///   - proportional: output units per unit of error.
  ///   - integral: output units per unit of error and second.
  ///   - derivative: output units per unit of measurement per second.
  ///   - derivativeFilter: the time constant of the derivative's first-order filter, 0 or more. With zero the derivative is the
  ///     difference of two samples.
  ///   - setpointWeight: the weight of the setpoint in the proportional part, 0…1. Below 1 a step of the setpoint
  ///     overshoots less.
  ///   - minimumOutput: the lower limit of the output, in output units; it may be infinite.
  ///   - maximumOutput: the upper limit, above the lower one.
  ///   - antiWindup: the behaviour of the integral part while the output is at a limit.
  ///   - sampleTime: the time from one step to the next, above 0, which is the loop's period.
  /// - Throws: `ControlSettingError` for a number out of its range, and for one that is not finite where it must be finite.
  @_noLocks @_noAllocation
  public init(
    proportional: Double, integral: Double = 0, derivative: Double = 0, derivativeFilter: Nanoseconds = .zero,
    setpointWeight: Double = 1, minimumOutput: Double = -.infinity, maximumOutput: Double = .infinity,
    antiWindup: AntiWindup = .conditional, sampleTime: Nanoseconds
  ) throws(ControlSettingError) {
    let step = sampleTime.inSeconds
    let filter = derivativeFilter.inSeconds
    try ControlSettingError.check(true, .gain, proportional)
    try ControlSettingError.check(true, .gain, integral)
    try ControlSettingError.check(true, .gain, derivative)
    try ControlSettingError.check(step > 0, .sampleTime, step)
    try ControlSettingError.check(filter >= 0, .derivativeFilter, filter)
    try ControlSettingError.check(setpointWeight >= 0 && setpointWeight <= 1, .setpointWeight, setpointWeight)
    guard minimumOutput < maximumOutput else { throw ControlSettingError(.minimumOutput, minimumOutput) }
    switch antiWindup {
    case .conditional: trackingGain = 0
    case .backCalculation(let trackingTime):
      try ControlSettingError.check(trackingTime.count >= sampleTime.count, .trackingTime, trackingTime.inSeconds)
      trackingGain = step / trackingTime.inSeconds
    }
    self.proportional = proportional
    self.derivative = derivative
    self.setpointWeight = setpointWeight
    self.minimumOutput = minimumOutput
    self.maximumOutput = maximumOutput
    integralGain = integral * step
    slopeDecay = filter / (filter + step)
    slopeGain = 1 / (filter + step)
  }
}
