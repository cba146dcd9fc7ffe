import Buses
import Tactus

/// An NTC thermistor in a divider on one input of an ADS1115.
///
/// A call never waits for the converter: one call starts a conversion, later calls find it running, and the first call after
/// `converter.conversionTime` reads it. With 128 conversions a second and a tick every 1 ms there is a new temperature every 10 ms;
/// with ticks every 5 ms, every 15 ms. Single conversions are used instead of continuous mode for three reasons: the chip has one
/// converter for four inputs; a conversion belongs to the input in the configuration that is read back; and after a loss of power
/// the configuration differs, so that the chip's 0 is not taken for a temperature.
///
/// Several thermistors on one converter take turns: call one only while no other `isConverting`. A call that reads a conversion
/// does not start the next one, so that each gets its turn.
///
/// The driver is a small value that takes the bus per call. Errors are those of the bus, after its retries; the bus is then not
/// used for `pause`. Timing: at most two transfers per call. Source: README.md beside this file.
public struct Thermistor: Sendable, BitwiseCopyable {
  /// The result of the last conversion.
  public enum Reading: Sendable, Hashable, BitwiseCopyable {
    /// No conversion has ended within `freshness`.
    case none
    /// A valid temperature in °C, within the range.
    case celsius(Double)
    /// The temperature is below the range because a wire is disconnected.
    case open
    /// The temperature is above the range because two wires touch.
    case shorted
  }

  private enum Phase: BitwiseCopyable {
    case idle(until: TickInstant)
    case converting(until: TickInstant)
  }

  /// The age beyond which a reading no longer counts: 1 s.
  public static var freshness: Nanoseconds {
    @_noLocks @_noAllocation get { .seconds(1) }
  }
  /// The time for which a chip that does not answer is not used: 200 ms, because each transfer on a stuck bus takes 10 ms.
  public static var pause: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(200) }
  }

  /// The converter, with its range and rate.
  public let converter: ADS1115
  /// The input of the converter, 0…3.
  public let channel: Int
  /// The divider on the input.
  public let divider: ThermistorDivider
  /// The result of the last conversion, as of the last call. Only `celsius(on:)` discards an old reading.
  public private(set) var reading = Reading.none
  /// The instant at which the last conversion was read, or `nil` before the first conversion.
  public private(set) var readAt: TickInstant?
  /// The number of conversions that the chip lost because it had no power meanwhile or another owner started another conversion.
  public private(set) var misses: Int64 = 0

  /// The limits of valid voltages. With the thermistor on the ground side, lower voltages are above the temperature range and higher ones below it.
  private let lowest: Microvolts
  private let highest: Microvolts
  private var phase = Phase.idle(until: .zero)

  /// Creates a thermistor on input `channel`. Does not use the bus.
  ///
  /// - Parameters:
  ///   - converter: the converter, whose range must reach to the divider's supply.
  ///   - channel: the input of the converter, 0…3.
  ///   - divider: the divider on the input.
  ///   - range: the valid temperatures in °C, above −273.15. Beyond it a wire is disconnected or shorted. The default,
  ///     −40…125, is the range of common parts. Its cold end is 80 mV from the voltage of an open wire, so that an open wire
  ///     is still detected if the supply is 2 % lower than given.
  public init(
    _ converter: ADS1115 = ADS1115(), channel: Int, divider: ThermistorDivider = ThermistorDivider(),
    range: ClosedRange<Double> = -40...125
  ) {
    precondition((0..<ADS1115.channelCount).contains(channel), "inputs are 0…3")
    precondition(
      divider.supply.count <= converter.range.fullScaleMicrovolts, "the converter's range reaches to the supply")
    self.converter = converter
    self.channel = channel
    self.divider = divider
    let ends = (divider.voltage(celsius: range.lowerBound), divider.voltage(celsius: range.upperBound))
    // The range is extended by one count at each end, so that both ends are inside.
    let count = converter.range.fullScaleMicrovolts / 32_768 + 1
    lowest = Microvolts(min(ends.0.count, ends.1.count) - count)
    highest = Microvolts(max(ends.0.count, ends.1.count) + count)
  }

  /// Whether a conversion has been started and not been read yet.
  public var isConverting: Bool {
    @_noLocks @_noAllocation get {
      if case .converting = phase { true } else { false }
    }
  }

  /// Starts a conversion, or reads the conversion that has ended, whichever is due at `bus.now`. Returns the last known temperature
  /// in °C, or `nil` if a wire is open or shorted or the last conversion is older than `freshness`; see `reading`.
  @_noLocks @_noAllocation
  public mutating func celsius(on bus: inout I2CBus) throws(I2CError) -> Double? {
    if let readAt, bus.now - readAt > Self.freshness { reading = .none }
    do throws(I2CError) {
      try advance(on: &bus)
    } catch {
      phase = .idle(until: bus.now + Self.pause)
      throw error
    }
    if case .celsius(let celsius) = reading { return celsius }
    return nil
  }

  @_noLocks @_noAllocation
  private mutating func advance(on bus: inout I2CBus) throws(I2CError) {
    switch phase {
    case .idle(let until):
      guard !(bus.now < until) else { return }
      try converter.start(channel, on: &bus)
      phase = .converting(until: bus.now + converter.conversionTime)
    case .converting(let until):
      guard !(bus.now < until) else { return }
      guard try converter.isReady(channel, on: &bus) else {
        // The write may have been late in its tick, so a second conversion time is granted.
        guard !(bus.now < until + converter.conversionTime) else { return }
        misses &+= 1
        phase = .idle(until: bus.now)
        return
      }
      reading = decode(try converter.read(on: &bus))
      readAt = bus.now
      phase = .idle(until: bus.now)
    }
  }

  @_noLocks @_noAllocation
  private func decode(_ voltage: Microvolts) -> Reading {
    let isLow = voltage.count < lowest.count
    if isLow || voltage.count > highest.count {
      switch divider.side {
      case .ground: return isLow ? .shorted : .open
      case .supply: return isLow ? .open : .shorted
      }
    }
    guard let celsius = divider.celsius(voltage) else { return isLow ? .shorted : .open }
    return .celsius(celsius)
  }
}
