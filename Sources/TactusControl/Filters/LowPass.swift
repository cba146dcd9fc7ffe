import Tactus

/// A first-order low-pass filter: −3 dB at the cut-off frequency, −20 dB a decade above it.
///
/// One step is one sample time. The first finite input is the first output, so there is no transient from 0. An input that is not
/// finite changes nothing and returns the last output; before any finite input the input is returned unchanged.
///
/// Source: the exact discretisation of 1 / (1 + s/ω) under a held input, y += (1 − e^(−ωT)) (x − y).
public struct LowPass: Sendable, BitwiseCopyable {
  /// The last output, or `nil` before the first finite input.
  public private(set) var output: Double?
  private let share: Double

  /// Creates a filter for samples at a fixed rate.
  ///
  /// - Parameters:
  ///   - cutoff: the cut-off frequency in Hz, above 0 and below half the sample rate.
  ///   - sampleTime: the time from one step to the next, above 0.
  @_noLocks @_noAllocation
  public init(cutoff: Double, sampleTime: Nanoseconds) throws(ControlSettingError) {
    let step = sampleTime.inSeconds
    try ControlSettingError.check(step > 0, .sampleTime, step)
    try ControlSettingError.check(cutoff > 0 && cutoff < 0.5 / step, .cutoff, cutoff)
    share = -Math.expm1(-2 * .pi * cutoff * step)
  }

  /// Filters one sample and returns the output in the units of the input.
  @_noLocks @_noAllocation
  public mutating func step(_ input: Double) -> Double {
    guard let last = output else {
      if input.isFinite { output = input }
      return input
    }
    // Not last + share × (input − last), whose difference may overflow.
    let next = (1 - share) * last + share * input
    guard next.isFinite else { return last }
    output = next
    return next
  }

  /// Resets the filter, so that the next finite input counts as the first.
  @_noLocks @_noAllocation
  public mutating func reset() { output = nil }
}
