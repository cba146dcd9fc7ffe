import Buses
@_spi(FromOutside) import Conversions
import Tactus

/// A Microchip MCP23017: sixteen lines on I2C, of which the given ones are outputs. Bit k of a mask is pin k: 0…7 are GPA0…GPA7, 8…15 GPB0…GPB7.
///
/// A driver is a value: it takes the bus per call. Timing: at most five transfers of up to four bytes, 0.4 ms each at 100 kHz. Source: DS20001952.
public struct MCP23017: Sendable, Hashable, BitwiseCopyable {
  /// The number of pins.
  public static var pinCount: Int {
    @_noLocks @_noAllocation get { 16 }
  }

  /// The address of the chip, 0x20…0x27 by its pins A0…A2.
  public let address: I2CAddress
  /// The pins that are outputs. The others stay inputs.
  public let outputs: UInt16
  /// The pins that are active at the low level.
  public let activeLow: UInt16

  /// Creates a driver for a chip at an address. Does not use the bus.
  public init(address: I2CAddress, outputs: UInt16, activeLow: UInt16 = 0) {
    (self.address, self.outputs, self.activeLow) = (address, outputs, activeLow)
  }

  /// The registers by their addresses in bank 0, which a reset selects. Those of port B follow those of port A.
  enum Register {
    static var direction: UInt8 { @_noLocks @_noAllocation get { 0x00 } }
    static var polarity: UInt8 { @_noLocks @_noAllocation get { 0x02 } }
    /// GPINTENB; in bank 1 this is the address of IOCON.
    static var interrupts: UInt8 { @_noLocks @_noAllocation get { 0x05 } }
    static var configuration: UInt8 { @_noLocks @_noAllocation get { 0x0A } }
    /// GPIO: a read gives the pins' levels, a write sets the latches of the outputs.
    static var levels: UInt8 { @_noLocks @_noAllocation get { 0x12 } }
  }

  /// Selects bank 0 with counting addresses, whatever another program has set, and levels that are not inverted. Changes no output's level.
  @_noLocks @_noAllocation
  public func prepare(on bus: inout I2CBus) throws(I2CError) {
    try bus.writeByte(0, to: address, register: Register.interrupts)
    try bus.writeByte(0, to: address, register: Register.configuration)
    try bus.writeBlock(pair(0), to: address, register: Register.polarity)
  }

  /// Sets every output: the levels first, then the directions, so that a pin is never an output with another level. The directions
  /// are written each time, because a chip that was without power has forgotten them.
  @_noLocks @_noAllocation
  public func set(_ active: UInt16, on bus: inout I2CBus) throws(I2CError) {
    try bus.writeBlock(pair((active ^ activeLow) & outputs), to: address, register: Register.levels)
    try bus.writeBlock(pair(~outputs), to: address, register: Register.direction)
  }

  /// Makes every output inactive.
  @_noLocks @_noAllocation
  public func turnOff(on bus: inout I2CBus) throws(I2CError) { try set(0, on: &bus) }

  /// Reads the levels of the outputs. A pin that is not an output, since the chip was without power, is not among `driven`.
  @_noLocks @_noAllocation
  public func read(on bus: inout I2CBus) throws(I2CError) -> (active: UInt16, driven: UInt16) {
    let levels = word(try bus.readBlock(2, from: address, register: Register.levels))
    let inputs = word(try bus.readBlock(2, from: address, register: Register.direction))
    return ((levels ^ activeLow) & outputs, outputs & ~inputs)
  }

  @_noLocks @_noAllocation
  private func pair(_ word: UInt16) -> I2CBytes {
    var bytes = I2CBytes()
    bytes.append(UInt8(truncatingIfNeeded: word))
    bytes.append(UInt8(truncatingIfNeeded: word >> 8))
    return bytes
  }

  @_noLocks @_noAllocation
  private func word(_ bytes: I2CBytes) -> UInt16 { UInt16(bytes[0]) | UInt16(bytes[1]) << 8 }
}
