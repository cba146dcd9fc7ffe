import Buses
import Tactus

/// An NTC thermistor in a divider on one input of an ADS1115.
///
/// A call never waits for the converter: one starts a conversion, later ones find it running, the first after
/// `converter.conversionTime` reads it. So with 128 conversions a second and a tick each 1 ms there is a new
/// temperature every 10 ms; with ticks of 5 ms, every 15 ms. Single shot instead of continuous mode: the chip has one
/// converter for four inputs, a conversion belongs to the input that the configuration read back names, and after a
/// loss of power the configuration is another one, so that the chip's 0 is not taken for a temperature.
///
/// Several on one converter take turns: call one only while no other `isConverting`. A call does not start what follows
/// a reading, so each gets its turn.
///
/// A small value that takes the bus per call. Errors: whatever the bus says, after its own retries; the bus is left
/// alone for `pause` then. Timing: at most two transfers a call. Source: README.md beside this file.
public struct Thermistor: Sendable, BitwiseCopyable {
  /// What the last conversion showed.
  public enum Reading: Sendable, Hashable, BitwiseCopyable {
    /// Nothing: no conversion has ended within `freshness`.
    case none
    /// A temperature in °C, inside the range.
    case celsius(Double)
    /// Colder than the range: a wire is off.
    case open
    /// Hotter than the range: two wires touch.
    case shorted
  }

  private enum Phase: BitwiseCopyable {
    case idle(until: TickInstant)
    case converting(until: TickInstant)
  }

  /// A reading that is older counts no more: 1 s.
  public static var freshness: Nanoseconds {
    @_noLocks @_noAllocation get { .seconds(1) }
  }
  /// How long a chip that does not answer is left alone: 200 ms, because a stuck bus costs 10 ms a transfer.
  public static var pause: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(200) }
  }

  /// The chip, with its range and rate.
  public let converter: ADS1115
  /// The input of the chip, 0…3.
  public let channel: Int
  /// What hangs on the input.
  public let divider: ThermistorDivider
  /// What the last conversion showed. As old as the last call: `celsius(on:)` is what forgets an old one.
  public private(set) var reading = Reading.none
  /// When that conversion was read; `nil` before the first.
  public private(set) var readAt: TickInstant?
  /// Conversions that the chip lost, because it had no power meanwhile or somebody else started another one.
  public private(set) var misses: Int64 = 0

  /// Below the first the thermistor is hotter than the range if it is on the ground's side, above the second colder.
  private let lowest: Microvolts
  private let highest: Microvolts
  private var phase = Phase.idle(until: .zero)

  /// A thermistor on input `channel`. Touches no bus.
  ///
  /// - Parameters:
  ///   - converter: its range must reach to the divider's supply.
  ///   - channel: 0…3.
  ///   - divider: what hangs on the input.
  ///   - range: temperatures in °C that are taken for such, above −273.15; beyond it a wire is off or shorted. The
  ///     default, −40…125, is what common parts are made for. Its cold end is 80 mV from the voltage of an open wire,
  ///     so that one is still found with a supply that is 2 % lower than told.
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
    // A count beyond each end, so that the ends themselves are inside.
    let count = converter.range.fullScaleMicrovolts / 32_768 + 1
    lowest = Microvolts(min(ends.0.count, ends.1.count) - count)
    highest = Microvolts(max(ends.0.count, ends.1.count) + count)
  }

  /// Whether a conversion has been started and not been read.
  public var isConverting: Bool {
    @_noLocks @_noAllocation get {
      if case .converting = phase { true } else { false }
    }
  }

  /// Starts a conversion, or reads the one that has ended, whatever is due at `bus.now`. Returns the last known
  /// temperature in °C, or `nil` if it is not known, the wire being open or shorted or the last conversion older than
  /// `freshness`: see `reading`.
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
        // The write may have been late in its tick: a second period decides.
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
