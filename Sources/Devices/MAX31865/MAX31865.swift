import Buses
@_spi(FromOutside) import Conversions
import Tactus

/// The Maxim MAX31865 with a platinum thermometer (Pt100 or Pt1000), on SPI mode 1 or 3, at most 5 MHz.
///
/// The chip converts continuously, 50 or 60 times a second. A call never waits: it reads all registers in one transfer. If the
/// configuration is not the driver's, because the chip was just powered or has lost its power, the call writes it, and returns no
/// reading until a conversion with it has ended. The driver is a small value that takes the port per call. Errors are those of the
/// port. Timing: at most two transfers per call, of 9 and 2 bytes. Source: README.md beside this file.
public struct MAX31865: Sendable, BitwiseCopyable {
  /// The result of the last conversion.
  public enum Reading: Sendable, Hashable, BitwiseCopyable {
    /// No conversion has ended yet, or no chip answers.
    case none
    /// A valid temperature in °C, within the range.
    case celsius(Double)
    /// The temperature is above the range because a wire is disconnected.
    case open
    /// The temperature is below the range because two wires touch.
    case shorted
    /// The chip has detected a voltage on an input that is not allowed.
    case voltage
  }

  /// The number of wires to the thermometer: two or four, or three.
  public enum Wires: Sendable, Hashable, BitwiseCopyable {
    /// The thermometer has two wires, whose resistance is measured with it, or four wires.
    case twoOrFour
    /// The thermometer has three wires of the same kind, whose resistance the chip subtracts.
    case three
  }

  /// The time from writing a new configuration to its first conversion: 100 ms.
  public static var settlingTime: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(100) }
  }

  /// The thermometer's resistance at 0 °C, in ohms: 100 or 1,000.
  public let nominal: Double
  /// The reference resistor, in ohms: 400 or 430 for a Pt100, 4,000 or 4,300 for a Pt1000.
  public let reference: Double
  /// The lowest and the highest temperature in °C that count as valid.
  public let lowest, highest: Double
  /// The result of the last call.
  public private(set) var reading = Reading.none
  private let configuration: UInt8
  /// The instant at which a conversion with this configuration has ended, or `nil` until the configuration has been written.
  private var readyAt: TickInstant?

  /// Creates a driver that has not read the thermometer yet. Does not use the bus.
  ///
  /// - Parameters:
  ///   - nominal: the resistance at 0 °C in ohms, more than 0.
  ///   - reference: the reference resistor in ohms, more than `nominal`.
  ///   - rejects60Hz: whether the mains frequency is 60 Hz; otherwise it is 50 Hz.
  ///   - range: the valid temperatures in °C, within −200…850. Beyond it a wire is disconnected or two wires touch.
  public init(
    wires: Wires = .twoOrFour, nominal: Double = 100, reference: Double = 430, rejects60Hz: Bool = false,
    range: ClosedRange<Double> = -50...300
  ) {
    precondition(nominal > 0 && reference > nominal, "the reference resistor is more than the thermometer at 0 °C")
    precondition(range.lowerBound >= -200 && range.upperBound <= 850, "platinum thermometers are for −200…850 °C")
    (self.nominal, self.reference) = (nominal, reference)
    (lowest, highest) = (range.lowerBound, range.upperBound)
    // The configuration switches the bias voltage and continuous conversion on.
    configuration = 0xC0 | (wires == .three ? 0x10 : 0) | (rejects60Hz ? 0 : 0x01)
  }

  /// Reads the chip once, at `port.now`.
  @_noLocks @_noAllocation
  public mutating func read(on port: inout SPIPort) throws(SPIError) -> Reading {
    var request = SPIBytes()
    for _ in 0..<9 { request.append(0) }
    let answer: SPIBytes
    do throws(SPIError) {
      answer = try port.exchange(request)
    } catch {
      (reading, readyAt) = (.none, nil)
      throw error
    }
    guard answer[1] == configuration, let readyAt else {
      try configure(port: &port)
      return reading
    }
    guard port.now >= readyAt else {
      reading = .none
      return reading
    }
    if answer[3] & 0x01 != 0 {
      // The chip keeps the fault bit until it is cleared.
      try write(configuration | 0x02, on: &port)
      reading = .voltage
      return reading
    }
    let code = UInt16(answer[2]) << 7 | UInt16(answer[3]) >> 1
    let celsius = Platinum.celsius(ratio: Double(code) / 32_768 * reference / nominal)
    reading = celsius < lowest ? .shorted : celsius > highest ? .open : .celsius(celsius)
    return reading
  }

  /// Reads the chip as `read` does, and returns the temperature in °C, or `nil` if the reading is not a temperature.
  @_noLocks @_noAllocation
  public mutating func celsius(on port: inout SPIPort) throws(SPIError) -> Double? {
    if case .celsius(let celsius) = try read(on: &port) { celsius } else { nil }
  }

  @_noLocks @_noAllocation
  private mutating func configure(port: inout SPIPort) throws(SPIError) {
    (reading, readyAt) = (.none, nil)
    try write(configuration | 0x02, on: &port)
    readyAt = port.now + Self.settlingTime
  }

  @_noLocks @_noAllocation
  private func write(_ value: UInt8, on port: inout SPIPort) throws(SPIError) {
    var request = SPIBytes()
    request.append(0x80)
    request.append(value)
    _ = try port.exchange(request)
  }
}
