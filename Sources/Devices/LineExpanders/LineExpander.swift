import Buses
@_spi(FromOutside) import Conversions
import Tactus

/// An I2C chip with lines, of one of the kinds that `ExpanderLines` drives.
public enum LineExpander: Sendable, Hashable, BitwiseCopyable {
  /// The chip is an MCP23017.
  case mcp23017(MCP23017)
  /// The chip is a PCF8574 or a PCF8574A.
  case pcf8574(PCF8574)

  /// Makes every output inactive.
  @_noLocks @_noAllocation
  public func turnOff(on bus: inout I2CBus) throws(I2CError) {
    switch self {
    case .mcp23017(let chip): try chip.turnOff(on: &bus)
    case .pcf8574(let chip): try chip.turnOff(on: &bus)
    }
  }

  /// The address of the chip.
  public var address: I2CAddress {
    switch self {
    case .mcp23017(let chip): chip.address
    case .pcf8574(let chip): chip.address
    }
  }

  /// The number of pins.
  public var pinCount: Int {
    switch self {
    case .mcp23017: MCP23017.pinCount
    case .pcf8574: PCF8574.pinCount
    }
  }

  @_noLocks @_noAllocation
  func prepare(on bus: inout I2CBus) throws(I2CError) {
    if case .mcp23017(let chip) = self { try chip.prepare(on: &bus) }
  }

  @_noLocks @_noAllocation
  func set(_ active: UInt16, on bus: inout I2CBus) throws(I2CError) {
    switch self {
    case .mcp23017(let chip): try chip.set(active, on: &bus)
    case .pcf8574(let chip): try chip.set(UInt8(truncatingIfNeeded: active), on: &bus)
    }
  }

  @_noLocks @_noAllocation
  func read(on bus: inout I2CBus) throws(I2CError) -> (active: UInt16, driven: UInt16) {
    switch self {
    case .mcp23017(let chip): return try chip.read(on: &bus)
    case .pcf8574(let chip): return (UInt16(try chip.read(on: &bus)), 0xFF)
    }
  }
}
