import Buses
import Tactus

/// The TI ADS1115: a 16-bit analogue-to-digital converter with four inputs on I2C.
///
/// A small value that takes the bus per call, remembers nothing and never waits. Order of a measurement: `start`, then
/// `isReady` and `read` after `conversionTime`. Each is one transfer, so that a loop can spread them over its ticks.
/// Errors: whatever the bus says, after its own retries. Source: README.md beside this file.
public struct ADS1115: Sendable, Hashable, BitwiseCopyable {
  /// The range, either way from zero. An input must stay below the supply besides, whatever the range.
  public enum Range: UInt8, Sendable, Hashable, BitwiseCopyable, CaseIterable {
    case millivolts6144, millivolts4096, millivolts2048, millivolts1024, millivolts512, millivolts256
  }

  /// Conversions a second.
  public enum Rate: UInt8, Sendable, Hashable, BitwiseCopyable, CaseIterable {
    case hertz8, hertz16, hertz32, hertz64, hertz128, hertz250, hertz475, hertz860
  }

  /// 0x48, with the ADDR pin at ground; the others are 0x49…0x4B.
  public static var standardAddress: I2CAddress {
    @_noLocks @_noAllocation get { I2CAddress(0x48)! }
  }
  public static var channelCount: Int {
    @_noLocks @_noAllocation get { 4 }
  }

  public let address: I2CAddress
  public let range: Range
  public let rate: Rate

  @_noLocks @_noAllocation
  public init(address: I2CAddress = standardAddress, range: Range = .millivolts4096, rate: Rate = .hertz128) {
    self.address = address
    self.range = range
    self.rate = rate
  }

  /// One period and a tenth of it, because the chip's oscillator is not exact.
  public var conversionTime: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(1_100_000_000 / rate.hertz) }
  }

  /// Begins one conversion of input `channel`, 0…3, against ground.
  @_noLocks @_noAllocation
  public func start(_ channel: Int, on bus: inout I2CBus) throws(I2CError) {
    let word = configuration(channel) | Config.start
    var bytes = I2CBytes()
    bytes.append(UInt8(truncatingIfNeeded: word >> 8))
    bytes.append(UInt8(truncatingIfNeeded: word))
    try bus.writeBlock(bytes, to: address, register: Register.config)
  }

  /// Whether the conversion of `channel` has ended. False as well when the chip was without power since: what `read` gave then
  /// would be nobody's voltage.
  @_noLocks @_noAllocation
  public func isReady(_ channel: Int, on bus: inout I2CBus) throws(I2CError) -> Bool {
    let bytes = try bus.readBlock(2, from: address, register: Register.config)
    return UInt16(bytes[0]) << 8 | UInt16(bytes[1]) == configuration(channel) | Config.ready
  }

  /// The last conversion's voltage.
  @_noLocks @_noAllocation
  public func read(on bus: inout I2CBus) throws(I2CError) -> Microvolts {
    let bytes = try bus.readBlock(2, from: address, register: Register.conversion)
    let counts = Int16(bitPattern: UInt16(bytes[0]) << 8 | UInt16(bytes[1]))
    return Microvolts(Int64(counts) * range.fullScaleMicrovolts / 32_768)
  }

  /// Single shot, comparator off, without the start bit.
  @_noLocks @_noAllocation
  private func configuration(_ channel: Int) -> UInt16 {
    precondition(channel >= 0 && channel < Self.channelCount, "inputs are 0…3")
    return (4 | UInt16(channel)) << 12 | UInt16(range.rawValue) << 9 | Config.singleShot | UInt16(rate.rawValue) << 5
      | Config.comparatorOff
  }
}

extension ADS1115 {
  enum Register {
    static var conversion: UInt8 {
      @_noLocks @_noAllocation get { 0 }
    }
    static var config: UInt8 {
      @_noLocks @_noAllocation get { 1 }
    }
  }

  enum Config {
    /// Written: begin. Read: nothing is being converted.
    static var start: UInt16 {
      @_noLocks @_noAllocation get { 0x8000 }
    }
    static var ready: UInt16 {
      @_noLocks @_noAllocation get { 0x8000 }
    }
    static var singleShot: UInt16 {
      @_noLocks @_noAllocation get { 0x0100 }
    }
    static var comparatorOff: UInt16 {
      @_noLocks @_noAllocation get { 0x0003 }
    }
  }
}

extension ADS1115.Range {
  /// What 32,768 counts would be.
  public var fullScaleMicrovolts: Int64 {
    @_noLocks @_noAllocation get {
      switch self {
      case .millivolts6144: 6_144_000
      case .millivolts4096: 4_096_000
      case .millivolts2048: 2_048_000
      case .millivolts1024: 1_024_000
      case .millivolts512: 512_000
      case .millivolts256: 256_000
      }
    }
  }
}

extension ADS1115.Rate {
  public var hertz: Int64 {
    @_noLocks @_noAllocation get {
      switch self {
      case .hertz8: 8
      case .hertz16: 16
      case .hertz32: 32
      case .hertz64: 64
      case .hertz128: 128
      case .hertz250: 250
      case .hertz475: 475
      case .hertz860: 860
      }
    }
  }
}
