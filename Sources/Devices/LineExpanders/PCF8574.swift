import Buses
import Tactus

/// An NXP or TI PCF8574 or PCF8574A: eight quasi-bidirectional lines on I2C. Bit k of a mask is pin Pk.
///
/// A pin that is written high is pulled up by 100 µA only, and is high from power on; it sinks 25 mA when low. It is therefore fit for outputs
/// that are active at the low level, which is what the driver makes of all its pins. The chip has no registers: one byte is its state.
/// Source: NXP PCF8574, section 8.
public struct PCF8574: Sendable, Hashable, BitwiseCopyable {
  /// The number of pins.
  public static var pinCount: Int {
    @_noLocks @_noAllocation get { 8 }
  }

  /// The address of the chip, which its pins A0…A2 select: 0x20…0x27, or 0x38…0x3F for a PCF8574A.
  public let address: I2CAddress

  /// Creates a driver for a chip at an address. Does not use the bus.
  public init(address: I2CAddress) { self.address = address }

  /// Sets every pin: active ones low, the others high.
  @_noLocks @_noAllocation
  public func set(_ active: UInt8, on bus: inout I2CBus) throws(I2CError) {
    var bytes = I2CBytes()
    bytes.append(~active)
    try bus.plainWrite(bytes, to: address)
  }

  /// Makes every pin inactive.
  @_noLocks @_noAllocation
  public func turnOff(on bus: inout I2CBus) throws(I2CError) { try set(0, on: &bus) }

  /// Returns the pins that are active by their levels.
  @_noLocks @_noAllocation
  public func read(on bus: inout I2CBus) throws(I2CError) -> UInt8 { ~(try bus.plainRead(1, from: address))[0] }
}
