import Buses
@_spi(FromOutside) import Conversions
import Tactus

/// The Microchip MCP3008: eight analogue inputs of 10 bits, on SPI mode 0, at most 1.35 MHz at 2.7 V.
///
/// The driver is a small value that takes the port per call and keeps no state. A conversion is part of its transfer, so there is
/// nothing to wait for. Errors are those of the port. Source: README.md beside this file.
public struct MCP3008: Sendable, Hashable, BitwiseCopyable {
  /// The number of inputs of the chip.
  public static var channelCount: Int {
    @_noLocks @_noAllocation get { 8 }
  }

  /// Creates a driver. The chip has no settings.
  @_noLocks @_noAllocation
  public init() {}

  /// Returns the value of channel 0…7 against ground, 0…1023 of the reference voltage, or `nil` if no chip drives the line, which then floats high.
  @_noLocks @_noAllocation
  public func read(_ channel: Int, on port: inout SPIPort) throws(SPIError) -> UInt16? {
    precondition(channel >= 0 && channel < Self.channelCount, "channels are 0…7")
    var bytes = SPIBytes()
    bytes.append(0x01)
    bytes.append(0x80 | UInt8(truncatingIfNeeded: channel) << 4)
    bytes.append(0x00)
    let answer = try port.exchange(bytes)
    // The chip sends a 0 before the ten bits.
    guard answer[1] & 0x04 == 0 else { return nil }
    return UInt16(answer[1] & 0x03) << 8 | UInt16(answer[2])
  }
}
