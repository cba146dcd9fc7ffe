/// A PID controller with output limits, anti-windup, a filtered derivative of the measurement, and feed-forward.
///
///     let settings = try PIDSettings(
///       proportional: 2, integral: 8, derivative: 0.05, derivativeFilter: .milliseconds(5),
///       minimumOutput: -1, maximumOutput: 1, sampleTime: .milliseconds(1))
///     var pid = PID(settings)
///     let output = pid.step(setpoint: target, measurement: angle)  // once a tick
///
/// One step is one sample time. A step cannot detect that a tick came late or was given up; where that happens the derivative needs
/// a filter of several sample times. The derivative is that of the measurement alone, so a step of the setpoint causes no kick of
/// the output.
///
/// **NaN and infinities.** A step whose inputs or result are not finite changes no state and returns the last output again (before
/// the first output, the limit nearest to 0). `rejectedSteps` counts such steps, so that the loop can enter its safe state after a
/// few.
///
/// Source: Åström, Hägglund, *Advanced PID Control* (2006), chapters 3 and 13: backward difference for the derivative,
/// forward difference for the integral.
public struct PID: Sendable, BitwiseCopyable {
  @usableFromInline var settings: PIDSettings
  @usableFromInline var integralPart: Double = 0
  @usableFromInline var filteredSlope: Double = 0
  @usableFromInline var lastOutput: Double
  @usableFromInline var lastSetpoint: Double = 0
  // The value is NaN before the first measurement, so that one check for finite sums also finds the first step.
  @usableFromInline var lastMeasurement: Double = .nan
  @usableFromInline var rejected: UInt32 = 0

  /// Creates a controller at rest, with no integral part and no measurement yet.
  @_noLocks @_noAllocation @inlinable
  public init(_ settings: PIDSettings) {
    self.settings = settings
    lastOutput = Math.clamp(0, from: settings.minimumOutput, to: settings.maximumOutput)
  }

  /// The integral part of the output, in output units.
  @inlinable public var integral: Double { @_noLocks @_noAllocation get { integralPart } }
  /// The filtered derivative of the measurement, in units per second.
  @inlinable public var slope: Double { @_noLocks @_noAllocation get { filteredSlope } }
  /// The result of the last step or `track`, in output units, within the limits including those of a later `adopt`.
  @inlinable public var output: Double { @_noLocks @_noAllocation get { lastOutput } }
  /// The number of consecutive steps rejected because a number was not finite; 0 after any accepted step.
  @inlinable public var rejectedSteps: Int { @_noLocks @_noAllocation get { Int(rejected) } }

  /// Returns the output for this sample, within the limits.
  ///
  /// - Parameters:
  ///   - setpoint: the wanted value of the measurement, in its units.
  ///   - measurement: the present measurement.
  ///   - feedForward: a term that is added to the output before the output is limited, in output units.
  @_noLocks @_noAllocation @inlinable @inline(__always)
  public mutating func step(setpoint: Double, measurement: Double, feedForward: Double = 0) -> Double {
    let newSlope = nextSlope(measurement)
    let wanted = withoutIntegral(setpoint, measurement, newSlope, feedForward) + integralPart
    let given = Math.clamp(wanted, from: settings.minimumOutput, to: settings.maximumOutput)
    let growth = settings.integralGain * (setpoint - measurement)
    let excess = wanted - given
    var newIntegral = integralPart
    if settings.trackingGain == 0 {
      let isWindingUp = excess * growth > 0
      newIntegral += isWindingUp ? 0 : growth
    } else {
      newIntegral += growth - settings.trackingGain * excess
    }
    // Every input is part of one of the two sums, so one check finds NaN, infinity and overflow.
    guard (wanted + newIntegral).isFinite else { return beginOrReject(setpoint, measurement, feedForward) }
    return accept(given, newIntegral, newSlope, setpoint, measurement)
  }

  /// Follows an output that is decided elsewhere, such as by a person or a start-up sequence, so that the first `step` afterwards
  /// continues without a bump. The function must be called once a tick instead of `step`. An output beyond the limits counts as the
  /// limit.
  ///
  /// Without an integral gain the integral part is left unchanged, since nothing would lead it back to 0; `step` then gives the
  /// output of the other gains. Inputs that are not finite change nothing and count as rejected.
  @_noLocks @_noAllocation @inlinable
  public mutating func track(output: Double, setpoint: Double, measurement: Double, feedForward: Double = 0) {
    let newSlope = lastMeasurement.isNaN ? 0 : nextSlope(measurement)
    let given = Math.clamp(output, from: settings.minimumOutput, to: settings.maximumOutput)
    let rest = withoutIntegral(setpoint, measurement, newSlope, feedForward)
    guard (given - rest).isFinite else {
      _ = reject()
      return
    }
    _ = accept(given, settings.integralGain == 0 ? integralPart : given - rest, newSlope, setpoint, measurement)
  }

  /// Changes gains, limits or the sample time without a bump: the integral part compensates the change of the other parts at the
  /// last setpoint and measurement, and the filtered derivative continues.
  ///
  /// If the new settings have no integral gain, the integral part stays as it is, and the output changes with the gains.
  @_noLocks @_noAllocation @inlinable
  public mutating func adopt(_ settings: PIDSettings) {
    let before = withoutIntegral(lastSetpoint, lastMeasurement, filteredSlope, 0)
    self.settings = settings
    // A rejected step returns the last output again, which must also keep the new limits.
    lastOutput = Math.clamp(lastOutput, from: settings.minimumOutput, to: settings.maximumOutput)
    guard settings.integralGain != 0 else { return }
    // The sum is not finite before the first measurement, where no output exists that could be continued.
    let adjusted = integralPart + (before - withoutIntegral(lastSetpoint, lastMeasurement, filteredSlope, 0))
    if adjusted.isFinite { integralPart = adjusted }
  }

  /// Resets everything except the settings. The next step starts with this integral part, in output units, or with 0 if it is not finite.
  @_noLocks @_noAllocation @inlinable
  public mutating func reset(integral: Double = 0) {
    self = PID(settings)
    if integral.isFinite { integralPart = integral }
  }

  @_noLocks @_noAllocation @inlinable @inline(__always)
  func nextSlope(_ measurement: Double) -> Double {
    settings.slopeDecay * filteredSlope + settings.slopeGain * (measurement - lastMeasurement)
  }

  @_noLocks @_noAllocation @inlinable @inline(__always)
  func withoutIntegral(_ setpoint: Double, _ measurement: Double, _ slope: Double, _ feedForward: Double) -> Double {
    settings.proportional * (settings.setpointWeight * setpoint - measurement) - settings.derivative * slope
      + feedForward
  }

  @_noLocks @_noAllocation @inlinable @inline(__always)
  mutating func accept(
    _ output: Double, _ integral: Double, _ slope: Double, _ setpoint: Double, _ measurement: Double
  ) -> Double {
    (integralPart, filteredSlope, lastOutput) = (integral, slope, output)
    (lastSetpoint, lastMeasurement, rejected) = (setpoint, measurement, 0)
    return output
  }

  /// Handles the first step, or rejects the step. The first step has no earlier measurement and uses its own in its place, so the
  /// derivative begins at 0.
  @_noLocks @_noAllocation @usableFromInline @inline(never)
  mutating func beginOrReject(_ setpoint: Double, _ measurement: Double, _ feedForward: Double) -> Double {
    guard lastMeasurement.isNaN, measurement.isFinite else { return reject() }
    var begun = self
    begun.lastMeasurement = measurement
    begun.rejected = 0
    let output = begun.step(setpoint: setpoint, measurement: measurement, feedForward: feedForward)
    guard begun.rejected == 0 else { return reject() }
    self = begun
    return output
  }

  @_noLocks @_noAllocation @usableFromInline
  mutating func reject() -> Double {
    if rejected < .max { rejected += 1 }
    return lastOutput
  }
}
