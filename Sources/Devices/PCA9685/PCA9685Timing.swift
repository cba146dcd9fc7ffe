@_spi(FromOutside) import Conversions
import Tactus
import Wire

/// A PCA9685's clock: its oscillator and the divider that makes the PWM period from it.
public struct PCA9685Timing: Sendable, Hashable, BitwiseCopyable {
  /// The frequency of the oscillator, 25 MHz by the datasheet. Real chips have 23…27 MHz, so a board is calibrated by measuring a pulse.
  public let oscillator: Frequency
  /// The value of the PRE_SCALE register, 3…255.
  public let prescale: UInt8

  /// The range of oscillator frequencies that are accepted.
  public static let oscillators = Frequency.kilohertz(20_000)...Frequency.kilohertz(50_000)

  /// Creates the timing with the divider nearest to `rate`: round(oscillator ÷ (4096 · rate)) − 1, for 24…1743 Hz at 25 MHz. Rates
  /// above 1526 Hz give 1526 Hz.
  public init(rate: Frequency, oscillator: Frequency = .kilohertz(25_000)) throws(PCA9685TimingError) {
    guard Self.oscillators.contains(oscillator) else { throw .oscillator(oscillator) }
    let ticks = 4096 * rate.hertz
    let prescale = (oscillator.hertz + ticks / 2) / ticks - 1
    guard (3...255).contains(prescale) else { throw .rate(rate, oscillator: oscillator) }
    self.oscillator = oscillator
    self.prescale = UInt8(clamping: prescale)
  }

  @_noLocks @_noAllocation
  init(prescale: UInt8, oscillator: Frequency) {
    self.oscillator = oscillator
    self.prescale = prescale
  }

  /// The timing for servos: 50 Hz at 25 MHz with a PRE_SCALE of 121, which gives 50.03 Hz and 4.88 µs per count.
  public static var servo: Self {
    @_noLocks @_noAllocation get { Self(prescale: 121, oscillator: .kilohertz(25_000)) }
  }

  /// The length of one PWM period, rounded up to the nanosecond.
  public var period: Nanoseconds {
    @_noLocks @_noAllocation get {
      let ticks = 4096 * (Int64(prescale) + 1) * 1_000_000_000
      return Nanoseconds((ticks + oscillator.hertz - 1) / oscillator.hertz)
    }
  }

  /// Returns the counts of a pulse, rounded to the nearest: µs · oscillator ÷ (prescale + 1). At most 4095, so that a line is never permanently high.
  @_noLocks @_noAllocation
  public func counts(_ pulse: PulseWidth) -> UInt16 {
    let divisor = (Int64(prescale) + 1) * 1_000_000
    let counts = (Int64(pulse.microseconds) * oscillator.hertz + divisor / 2) / divisor
    return counts > 4095 ? 4095 : UInt16(truncatingIfNeeded: counts)
  }

  /// Returns the time for which the line is high with this number of counts, 0…4095.
  @_noLocks @_noAllocation
  public func duration(counts: UInt16) -> Nanoseconds {
    Nanoseconds(Int64(counts) * (Int64(prescale) + 1) * 1_000_000_000 / oscillator.hertz)
  }
}

/// A rate that the chip cannot make.
public enum PCA9685TimingError: Error, Sendable, Hashable {
  /// The oscillator is not within `PCA9685Timing.oscillators`.
  case oscillator(Frequency)
  /// No divider of this oscillator makes this rate.
  case rate(Frequency, oscillator: Frequency)
}

extension PCA9685TimingError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .oscillator(let value): "oscillator: expected 20000 kHz…50000 kHz, got \(value)"
    case .rate(let rate, let oscillator):
      "PWM rate: expected \(2 * oscillator.hertz / (4096 * 513) + 1)…\(2 * oscillator.hertz / (4096 * 7)) Hz "
        + "with an oscillator of \(oscillator), got \(rate)"
    }
  }
}

/// A frequency in whole hertz, more than 0.
public struct Frequency: Sendable, Hashable, Comparable, BitwiseCopyable {
  /// The number of cycles per second.
  public let hertz: Int64

  /// Returns a frequency of `hertz` cycles per second; 0 or less traps.
  @_noLocks @_noAllocation
  public static func hertz(_ hertz: Int64) -> Self { Self(hertz: hertz) }
  /// Returns a frequency of `kilohertz` thousand cycles per second; 0 or less traps.
  @_noLocks @_noAllocation
  public static func kilohertz(_ kilohertz: Int64) -> Self { Self(hertz: kilohertz * 1_000) }

  @_noLocks @_noAllocation
  private init(hertz: Int64) {
    precondition(hertz > 0, "a frequency is more than nothing")
    self.hertz = hertz
  }

  @_noLocks @_noAllocation
  public static func < (left: Self, right: Self) -> Bool { left.hertz < right.hertz }
}

extension Frequency: CustomStringConvertible {
  public var description: String { hertz % 1_000 == 0 ? "\(hertz / 1_000) kHz" : "\(hertz) Hz" }
}
