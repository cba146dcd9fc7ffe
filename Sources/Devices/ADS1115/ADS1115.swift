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
    /// ±6.144 V, 187.5 µV a count.
    case millivolts6144
    /// ±4.096 V, 125 µV a count.
    case millivolts4096
    /// ±2.048 V, 62.5 µV a count.
    case millivolts2048
    /// ±1.024 V, 31.25 µV a count.
    case millivolts1024
    /// ±0.512 V, 15.625 µV a count.
    case millivolts512
    /// ±0.256 V, 7.8125 µV a count.
    case millivolts256
  }

  /// Conversions a second.
  public enum Rate: UInt8, Sendable, Hashable, BitwiseCopyable, CaseIterable {
    /// 8 conversions a second, 125 ms each.
    case hertz8
    /// 16 conversions a second, 62.5 ms each.
    case hertz16
    /// 32 conversions a second, 31.25 ms each.
    case hertz32
    /// 64 conversions a second, 15.625 ms each.
    case hertz64
    /// 128 conversions a second, 7.8125 ms each.
    case hertz128
    /// 250 conversions a second, 4 ms each.
    case hertz250
    /// 475 conversions a second, 2.105 ms each.
    case hertz475
    /// 860 conversions a second, 1.163 ms each.
    case hertz860
  }

  /// 0x48, with the ADDR pin at ground; the others are 0x49…0x4B.
  public static var standardAddress: I2CAddress {
    @_noLocks @_noAllocation get { I2CAddress(0x48)! }
  }
  /// How many inputs the chip has.
  public static var channelCount: Int {
    @_noLocks @_noAllocation get { 4 }
  }

  /// The address of the chip on its bus.
  public let address: I2CAddress
  /// The range in which it measures.
  public let range: Range
  /// How fast it converts.
  public let rate: Rate

  /// A chip at an address, with the range and the rate of all its measurements. Touches no bus.
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
  /// would be no input's voltage.
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
    return (4 | UInt16(clamping: channel)) << 12 | UInt16(range.rawValue) << 9 | Config.singleShot | UInt16(
      rate.rawValue) << 5
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
  /// Conversions a second.
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
