/// A second-order filter: low-pass, high-pass or notch, by its coefficients.
///
///     var smooth = Biquad(try .lowPass(cutoff: 40, sampleTime: .milliseconds(1)))
///     let angle = smooth.step(measured)  // once a tick
///
/// The first finite input is taken as one that has been there for ever, so there is no transient from 0. A step whose
/// input or result is not finite changes no state and returns the last output; before any finite input the input is
/// returned as it came.
///
/// Source: transposed direct form II, which loses the fewest digits at low frequencies.
public struct Biquad: Sendable, BitwiseCopyable {
  /// What the filter is: its kind, frequency and quality.
  public let coefficients: BiquadCoefficients
  /// The last output; `nil` before the first finite input.
  public private(set) var output: Double?
  private var first: Double = 0, second: Double = 0

  /// A filter without a past.
  @_noLocks @_noAllocation
  public init(_ coefficients: BiquadCoefficients) { self.coefficients = coefficients }

  /// Filters one sample, and returns the output in the units of the input.
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

  /// Goes into the state that a constant input leads to; an input that is not finite, or overflows, is ignored.
  @_noLocks @_noAllocation
  public mutating func settle(at input: Double) {
    let c = coefficients
    let constant = (c.b0 + c.b1 + c.b2) / (1 + c.a1 + c.a2) * input
    let newSecond = c.b2 * input - c.a2 * constant
    let newFirst = c.b1 * input - c.a1 * constant + newSecond
    guard constant.isFinite, newFirst.isFinite, newSecond.isFinite else { return }
    (first, second, output) = (newFirst, newSecond, constant)
  }

  /// Forgets the past: the next finite input is a first one.
  @_noLocks @_noAllocation
  public mutating func reset() { self = Biquad(coefficients) }
}
