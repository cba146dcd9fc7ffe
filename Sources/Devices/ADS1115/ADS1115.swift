import Buses
@_spi(FromOutside) import Conversions
import Tactus

/// The TI ADS1115: a 16-bit analogue-to-digital converter with four inputs on I2C.
///
/// The driver is a small value that takes the bus per call, keeps no state and never waits. A measurement consists of `start` and,
/// after `conversionTime`, `isReady` and `read`. Each of these is one transfer, so that a loop can spread them over its ticks.
/// Errors are those of the bus, after its retries. Source: README.md beside this file.
public struct ADS1115: Sendable, Hashable, BitwiseCopyable {
  /// The measuring range, in both directions from zero. Whatever the range, an input must also stay below the supply.
  public enum Range: UInt8, Sendable, Hashable, BitwiseCopyable, CaseIterable {
    /// A range of ±6.144 V with 187.5 µV per count.
    case millivolts6144
    /// A range of ±4.096 V with 125 µV per count.
    case millivolts4096
    /// A range of ±2.048 V with 62.5 µV per count.
    case millivolts2048
    /// A range of ±1.024 V with 31.25 µV per count.
    case millivolts1024
    /// A range of ±0.512 V with 15.625 µV per count.
    case millivolts512
    /// A range of ±0.256 V with 7.8125 µV per count.
    case millivolts256
  }

  /// The number of conversions per second.
  public enum Rate: UInt8, Sendable, Hashable, BitwiseCopyable, CaseIterable {
    /// A rate of 8 conversions a second, which take 125 ms each.
    case hertz8
    /// A rate of 16 conversions a second, which take 62.5 ms each.
    case hertz16
    /// A rate of 32 conversions a second, which take 31.25 ms each.
    case hertz32
    /// A rate of 64 conversions a second, which take 15.625 ms each.
    case hertz64
    /// A rate of 128 conversions a second, which take 7.8125 ms each.
    case hertz128
    /// A rate of 250 conversions a second, which take 4 ms each.
    case hertz250
    /// A rate of 475 conversions a second, which take 2.105 ms each.
    case hertz475
    /// A rate of 860 conversions a second, which take 1.163 ms each.
    case hertz860
  }

  /// The address 0x48, with the ADDR pin at ground. The others are 0x49…0x4B.
  public static var standardAddress: I2CAddress {
    @_noLocks @_noAllocation get { I2CAddress(0x48)! }
  }
  /// The number of inputs of the chip.
  public static var channelCount: Int {
    @_noLocks @_noAllocation get { 4 }
  }

  /// The address of the chip on its bus.
  public let address: I2CAddress
  /// The measuring range of the conversions.
  public let range: Range
  /// The number of conversions per second.
  public let rate: Rate

  /// Creates a driver for a chip at an address, with the range and the rate of all its measurements. Does not use the bus.
  @_noLocks @_noAllocation
  public init(address: I2CAddress = standardAddress, range: Range = .millivolts4096, rate: Rate = .hertz128) {
    self.address = address
    self.range = range
    self.rate = rate
  }

  /// The time of one conversion plus a tenth of it, because the chip's oscillator is not exact.
  public var conversionTime: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(1_100_000_000 / rate.hertz) }
  }

  /// Starts one conversion of input `channel`, 0…3, against ground.
  @_noLocks @_noAllocation
  public func start(_ channel: Int, on bus: inout I2CBus) throws(I2CError) {
    let word = configuration(channel) | Config.start
    var bytes = I2CBytes()
    bytes.append(UInt8(truncatingIfNeeded: word >> 8))
    bytes.append(UInt8(truncatingIfNeeded: word))
    try bus.writeBlock(bytes, to: address, register: Register.config)
  }

  /// Returns whether the conversion of `channel` has ended. The result is also `false` if the chip was without power since, in
  /// which case `read` would not return the input's voltage.
  @_noLocks @_noAllocation
  public func isReady(_ channel: Int, on bus: inout I2CBus) throws(I2CError) -> Bool {
    let bytes = try bus.readBlock(2, from: address, register: Register.config)
    return UInt16(bytes[0]) << 8 | UInt16(bytes[1]) == configuration(channel) | Config.ready
  }

  /// Returns the voltage of the last conversion.
  @_noLocks @_noAllocation
  public func read(on bus: inout I2CBus) throws(I2CError) -> Microvolts {
    let bytes = try bus.readBlock(2, from: address, register: Register.conversion)
    let counts = Int16(bitPattern: UInt16(bytes[0]) << 8 | UInt16(bytes[1]))
    return Microvolts(Int64(counts) * range.fullScaleMicrovolts / 32_768)
  }

  /// Returns the configuration for a single conversion with the comparator off, without the start bit.
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
    /// The start bit: when written it starts a conversion; when read it shows that no conversion is running.
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
  /// The voltage of 32,768 counts, in microvolts.
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
  /// The number of conversions per second.
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

/// A voltage in whole microvolts, positive or negative.
public struct Microvolts: Sendable, Hashable, BitwiseCopyable {
  /// The number of microvolts.
  public var count: Int64

  /// Creates a voltage of `count` microvolts.
  @_noLocks @_noAllocation
  public init(_ count: Int64) { self.count = count }
}

extension Microvolts: CustomStringConvertible {
  public var description: String { "\(count) µV" }
}
