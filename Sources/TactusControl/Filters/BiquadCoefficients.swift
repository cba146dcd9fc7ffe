import Tactus

/// The coefficients of a second-order section, y = b₀x + b₁x₋₁ + b₂x₋₂ − a₁y₋₁ − a₂y₋₂.
///
/// Frequencies are in Hz, above 0 and below half the sample rate. The quality factor is above 0: 1/√2 is Butterworth's, which for
/// low-pass and high-pass filters is the flattest response without a peak; for a notch the quality factor is frequency ÷ bandwidth.
///
/// Source: R. Bristow-Johnson, *Audio EQ Cookbook* (bilinear transform, frequencies prewarped), W3C Note 2021.
public struct BiquadCoefficients: Sendable, Hashable, BitwiseCopyable {
  /// The weight of the present input.
  public let b0: Double
  /// The weight of the previous input.
  public let b1: Double
  /// The weight of the input two steps before.
  public let b2: Double
  /// The weight of the previous output, which is subtracted.
  public let a1: Double
  /// The weight of the output two steps before, which is subtracted.
  public let a2: Double

  /// Returns a low-pass filter: with Butterworth's quality the gain is −3 dB at `cutoff` and falls by 40 dB per decade above.
  @_noLocks @_noAllocation
  public static func lowPass(
    cutoff: Double, quality: Double = 0.707_106_781_186_547_5, sampleTime: Nanoseconds
  ) throws(ControlSettingError) -> Self {
    let (cosine, alpha) = try angle(cutoff, quality, sampleTime)
    return Self((1 - cosine) / 2, 1 - cosine, (1 - cosine) / 2, cosine, alpha)
  }

  /// Returns a high-pass filter: with Butterworth's quality the gain is −3 dB at `cutoff` and falls by 40 dB per decade below. A
  /// constant input gives 0.
  @_noLocks @_noAllocation
  public static func highPass(
    cutoff: Double, quality: Double = 0.707_106_781_186_547_5, sampleTime: Nanoseconds
  ) throws(ControlSettingError) -> Self {
    let (cosine, alpha) = try angle(cutoff, quality, sampleTime)
    return Self((1 + cosine) / 2, -(1 + cosine), (1 + cosine) / 2, cosine, alpha)
  }

  /// Returns a notch filter, which removes `frequency` (a resonance or mains hum) and passes frequencies far from it.
  @_noLocks @_noAllocation
  public static func notch(
    frequency: Double, quality: Double = 2, sampleTime: Nanoseconds
  ) throws(ControlSettingError) -> Self {
    let (cosine, alpha) = try angle(frequency, quality, sampleTime)
    return Self(1, -2 * cosine, 1, cosine, alpha)
  }

  /// Returns the gain at a frequency in Hz, 0 or more. A gain of 1 passes the frequency unchanged.
  @_noLocks @_noAllocation
  public func gain(at frequency: Double, sampleTime: Nanoseconds) -> Double {
    let angle = 2 * .pi * frequency * sampleTime.inSeconds
    let (c1, s1, c2, s2) = (Math.cos(angle), Math.sin(angle), Math.cos(2 * angle), Math.sin(2 * angle))
    return Math.hypot(b0 + b1 * c1 + b2 * c2, b1 * s1 + b2 * s2) / Math.hypot(1 + a1 * c1 + a2 * c2, a1 * s1 + a2 * s2)
  }

  @_noLocks @_noAllocation
  private init(_ b0: Double, _ b1: Double, _ b2: Double, _ cosine: Double, _ alpha: Double) {
    let a0 = 1 + alpha
    (self.b0, self.b1, self.b2) = (b0 / a0, b1 / a0, b2 / a0)
    (a1, a2) = (-2 * cosine / a0, (1 - alpha) / a0)
  }

  @_noLocks @_noAllocation
  private static func angle(
    _ frequency: Double, _ quality: Double, _ sampleTime: Nanoseconds
  ) throws(ControlSettingError) -> (cosine: Double, alpha: Double) {
    let step = sampleTime.inSeconds
    try ControlSettingError.check(step > 0, .sampleTime, step)
    try ControlSettingError.check(frequency > 0 && frequency < 0.5 / step, .cutoff, frequency)
    try ControlSettingError.check(quality > 0, .quality, quality)
    let angle = 2 * .pi * frequency * step
    return (Math.cos(angle), Math.sin(angle) / (2 * quality))
  }
}
