import Buses
@_spi(FromOutside) import Conversions
import Tactus

/// The Adafruit STEMMA soil sensor: a seesaw chip with one capacitive touch input and a thermometer, on I2C.
///
/// The driver is a small value that takes the bus per call, keeps no state and never waits: a measurement consists of a request
/// and, `conversion` later, a read; the bus is free in between. Errors are those of the bus, after its retries. Timing: one
/// transfer per call. Source: README.md beside this file.
public struct SeesawSoil: Sendable, Hashable, BitwiseCopyable {
  /// The address 0x36, which jumpers change to 0x37…0x39.
  public static var standardAddress: I2CAddress {
    @_noLocks @_noAllocation get { I2CAddress(0x36)! }
  }
  /// The time from a request to the first read: 5 ms.
  public static var conversion: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(5) }
  }
  /// The time from a reset to the first request: 500 ms.
  public static var startUp: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(500) }
  }
  /// The greatest valid count. Higher counts come from a bus that could not wait for the chip's clock stretching.
  public static var greatestMoisture: UInt16 {
    @_noLocks @_noAllocation get { 4095 }
  }

  /// The address of the probe on its bus.
  public let address: I2CAddress

  /// Creates a driver for a probe at an address. Does not use the bus.
  @_noLocks @_noAllocation
  public init(address: I2CAddress = standardAddress) { self.address = address }

  /// Resets the chip, which does not answer for `startUp`.
  @_noLocks @_noAllocation
  public func reset(on bus: inout I2CBus) throws(I2CError) {
    var bytes = I2CBytes()
    bytes.append(0x00)
    bytes.append(0x7F)
    bytes.append(0xFF)
    try bus.plainWrite(bytes, to: address)
  }

  /// Requests a measurement, which can be read after `conversion`.
  @_noLocks @_noAllocation
  public func request(_ quantity: Quantity, on bus: inout I2CBus) throws(I2CError) {
    var bytes = I2CBytes()
    bytes.append(quantity.base)
    bytes.append(quantity.function)
    try bus.plainWrite(bytes, to: address)
  }

  /// Returns the requested moisture, about 200 (very dry) … 2000 (very wet), or `nil` if the count is no valid measurement.
  @_noLocks @_noAllocation
  public func moisture(on bus: inout I2CBus) throws(I2CError) -> UInt16? {
    let bytes = try bus.plainRead(2, from: address)
    let counts = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
    return counts > Self.greatestMoisture ? nil : counts
  }

  /// Returns the requested temperature in °C, or `nil` if it is outside the chip's operating range, −40…85 °C.
  @_noLocks @_noAllocation
  public func temperature(on bus: inout I2CBus) throws(I2CError) -> Double? {
    let bytes = try bus.plainRead(4, from: address)
    let counts =
      UInt32(bytes[0] & 0x3F) << 24 | UInt32(bytes[1]) << 16 | UInt32(bytes[2]) << 8 | UInt32(bytes[3])
    let celsius = Double(counts) / 65_536
    return celsius > 85 ? nil : celsius
  }

  /// Returns the requested hardware code, 0x55 (SAMD09) or 0x87 (ATtiny817), or `nil` if it is that of another chip.
  @_noLocks @_noAllocation
  public func hardware(on bus: inout I2CBus) throws(I2CError) -> UInt8? {
    let code = try bus.plainRead(1, from: address)[0]
    return code == 0x55 || code == 0x87 ? code : nil
  }

  /// A quantity that can be requested.
  public enum Quantity: UInt8, Sendable, BitwiseCopyable {
    /// The kind of processor of the probe.
    case hardware
    /// The temperature of the probe.
    case temperature
    /// The amount of water at the probe.
    case moisture

    var base: UInt8 {
      @_noLocks @_noAllocation get {
        switch self {
        case .hardware, .temperature: 0x00
        case .moisture: 0x0F
        }
      }
    }

    var function: UInt8 {
      @_noLocks @_noAllocation get {
        switch self {
        case .hardware: 0x01
        case .temperature: 0x04
        case .moisture: 0x10
        }
      }
    }
  }
}
