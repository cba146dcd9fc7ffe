/// A second-order filter, whose coefficients make it a low-pass, high-pass or notch filter.
///
///     var smooth = Biquad(try .lowPass(cutoff: 40, sampleTime: .milliseconds(1)))
///     let angle = smooth.step(measured)  // once a tick
///
/// The first finite input counts as if it had always been present, so there is no transient from 0. A step whose input or result is
/// not finite changes no state and returns the last output; before any finite input the input is returned unchanged.
///
/// Source: transposed direct form II, which loses the fewest digits at low frequencies.
public struct Biquad: Sendable, BitwiseCopyable {
  /// The coefficients, which follow from the filter's kind, frequency and quality.
  public let coefficients: BiquadCoefficients
  /// The last output, or `nil` before the first finite input.
  public private(set) var output: Double?
  private var first: Double = 0, second: Double = 0

  /// Creates a filter without earlier inputs.
  @_noLocks @_noAllocation
  public init(_ coefficients: BiquadCoefficients) { self.coefficients = coefficients }

  /// Filters one sample and returns the output in the units of the input.
  @_noLocks @_noAllocation
  public mutating func step(_ input: Double) -> Double {
    let c = coefficients
    guard let last = output else {
      if input.isFinite { settle(at: input) }
      return output ?? input
    }
    let next = c.b0 * input + first
    let newFirst = c.b1 * input - c.a1 * next + second
    let newSecond = c.b2 * input - c.a2 * next
    guard next.isFinite, newFirst.isFinite, newSecond.isFinite else { return last }
    (first, second, output) = (newFirst, newSecond, next)
    return next
  }

  /// Sets the filter to the state after a long constant input. An input that is not finite, or that overflows, is ignored.
  @_noLocks @_noAllocation
  public mutating func settle(at input: Double) {
    let c = coefficients
    let constant = (c.b0 + c.b1 + c.b2) / (1 + c.a1 + c.a2) * input
    let newSecond = c.b2 * input - c.a2 * constant
    let newFirst = c.b1 * input - c.a1 * constant + newSecond
    guard constant.isFinite, newFirst.isFinite, newSecond.isFinite else { return }
    (first, second, output) = (newFirst, newSecond, constant)
  }

  /// Resets the filter, so that the next finite input counts as the first.
  @_noLocks @_noAllocation
  public mutating func reset() { self = Biquad(coefficients) }
}
