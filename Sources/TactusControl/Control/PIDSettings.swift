import Tactus

/// Gains, limits and sample time of a `PID`, checked and prepared for stepping.
///
/// Gains are those of the parallel form, u = P·e + I·∫e − D·dy/dt, of any sign. Made outside a tick and handed over through a
/// `Latest`, or made in it.
public struct PIDSettings: Sendable, BitwiseCopyable {
  /// What the integral does while the output is at a limit.
  public enum AntiWindup: Sendable, Hashable, BitwiseCopyable {
    /// It stands still as long as the error would drive the output further beyond the limit (clamping).
    case conditional
    /// It is led back so that the output returns from beyond the limit with this time constant, the sample time or more. Åström and
    /// Hägglund advise √(Ti·Td), or Ti without a derivative.
    case backCalculation(trackingTime: Nanoseconds)
  }

  /// Proportional gain, output units for each unit of error.
  public let proportional: Double
  /// Integral gain, output units for each unit of error and second.
  public let integral: Double
  /// Derivative gain, output units for each unit of measurement a second.
  public let derivative: Double
  /// Time constant of the derivative's first-order filter. Zero: the bare difference of two samples.
  public let derivativeFilter: Nanoseconds
  /// The share of the setpoint that the proportional part sees, 0…1: below 1 a step of the setpoint overshoots less.
  public let setpointWeight: Double
  /// Limits of the output, in output units; may be infinite.
  public let minimumOutput: Double, maximumOutput: Double
  public let antiWindup: AntiWindup
  /// Time from one step to the next: the loop's period.
  public let sampleTime: Nanoseconds

  @usableFromInline let integralGain: Double  // integral × sample time
  @usableFromInline let slopeDecay: Double  // of the filtered derivative, a step
  @usableFromInline let slopeGain: Double  // 1/s
  @usableFromInline let trackingGain: Double  // 0…1; 0: conditional
  @usableFromInline let isConditional: Bool

  /// - Throws: `ControlSettingError` when a number is not finite (only limits may be infinite) or out of the range that its property
  ///   names.
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
    case .conditional: (trackingGain, isConditional) = (0, true)
    case .backCalculation(let trackingTime):
      try ControlSettingError.check(trackingTime.count >= sampleTime.count, .trackingTime, trackingTime.inSeconds)
      (trackingGain, isConditional) = (step / trackingTime.inSeconds, false)
    }
    self.proportional = proportional
    self.integral = integral
    self.derivative = derivative
    self.derivativeFilter = derivativeFilter
    self.setpointWeight = setpointWeight
    self.minimumOutput = minimumOutput
    self.maximumOutput = maximumOutput
    self.antiWindup = antiWindup
    self.sampleTime = sampleTime
    integralGain = integral * step
    slopeDecay = filter / (filter + step)
    slopeGain = 1 / (filter + step)
  }
}
