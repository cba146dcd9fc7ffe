import Buses
import Tactus

/// The Adafruit STEMMA soil sensor: a seesaw chip with one capacitive touch input and a thermometer, on I2C.
///
/// A small value that takes the bus per call, remembers nothing and never waits: a measurement is a request and, `conversion`
/// later, a read, with the bus free in between.
/// Errors: whatever the bus says, after its own retries. Timing: one transfer a call. Source: README.md beside this file.
public struct SeesawSoil: Sendable, Hashable, BitwiseCopyable {
  /// 0x36; jumpers make it 0x37…0x39.
  public static var standardAddress: I2CAddress {
    @_noLocks @_noAllocation get { I2CAddress(0x36)! }
  }
  /// From a request to the first read: 5 ms.
  public static var conversion: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(5) }
  }
  /// From a reset to the first request: 500 ms.
  public static var startUp: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(500) }
  }
  /// Counts above it come from a bus that could not wait for the chip's clock stretching, not from soil.
  public static var greatestMoisture: UInt16 {
    @_noLocks @_noAllocation get { 4095 }
  }

  /// The address of the probe on its bus.
  public let address: I2CAddress

  /// A probe at an address. Touches no bus.
  @_noLocks @_noAllocation
  public init(address: I2CAddress = standardAddress) { self.address = address }

  /// Starts the chip anew; it does not answer for `startUp`.
  @_noLocks @_noAllocation
  public func reset(on bus: inout I2CBus) throws(I2CError) {
    var bytes = I2CBytes()
    bytes.append(0x00)
    bytes.append(0x7F)
    bytes.append(0xFF)
    try bus.plainWrite(bytes, to: address)
  }

  /// Asks for a measurement, which can be read `conversion` later.
  @_noLocks @_noAllocation
  public func request(_ quantity: Quantity, on bus: inout I2CBus) throws(I2CError) {
    var bytes = I2CBytes()
    bytes.append(quantity.base)
    bytes.append(quantity.function)
    try bus.plainWrite(bytes, to: address)
  }

  /// What was requested, about 200 (very dry) … 2000 (very wet), or `nil` if that is no measurement.
  @_noLocks @_noAllocation
  public func moisture(on bus: inout I2CBus) throws(I2CError) -> UInt16? {
    let bytes = try bus.plainRead(2, from: address)
    let counts = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
    return counts > Self.greatestMoisture ? nil : counts
  }

  /// What was requested, in °C, or `nil` if outside what the chip works in, −40…85 °C.
  @_noLocks @_noAllocation
  public func temperature(on bus: inout I2CBus) throws(I2CError) -> Double? {
    let bytes = try bus.plainRead(4, from: address)
    let counts =
      UInt32(bytes[0] & 0x3F) << 24 | UInt32(bytes[1]) << 16 | UInt32(bytes[2]) << 8 | UInt32(bytes[3])
    let celsius = Double(counts) / 65_536
    return celsius > 85 ? nil : celsius
  }

  /// What was requested: 0x55 (SAMD09) or 0x87 (ATtiny817), or `nil` for another chip.
  @_noLocks @_noAllocation
  public func hardware(on bus: inout I2CBus) throws(I2CError) -> UInt8? {
    let code = try bus.plainRead(1, from: address)[0]
    return code == 0x55 || code == 0x87 ? code : nil
  }

  /// What can be asked for.
  public enum Quantity: UInt8, Sendable, BitwiseCopyable {
    /// Which processor the probe has.
    case hardware
    /// The temperature of the probe.
    case temperature
    /// How much water there is at the probe.
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
