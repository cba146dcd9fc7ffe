import Devices
import Tactus

/// A soil probe and where it is wired.
public enum PlantProbe: Sendable, Hashable, BitwiseCopyable {
  /// Counts, more is wetter; with a thermometer.
  case seesaw(SeesawSoil)
  /// Microvolts of input `channel`, 0…3; capacitive probes give more when dry.
  case ads1115(ADS1115, channel: Int)
  /// Counts of input `channel`, 0…7, on the loop's SPI port.
  case mcp3008(channel: Int)

  /// The chip's address on I2C; nil: it is on SPI. Probes of one address take turns: a chip converts one input at a time.
  var address: UInt8? {
    @_noLocks @_noAllocation get {
      switch self {
      case .seesaw(let chip): chip.address.value
      case .ads1115(let chip, _): chip.address.value
      case .mcp3008: nil
      }
    }
  }

  /// Before its first reading, and after a failed one, it is reset and asked what it is.
  var hasIdentity: Bool {
    @_noLocks @_noAllocation get {
      switch self {
      case .seesaw: true
      case .ads1115, .mcp3008: false
      }
    }
  }

  var hasThermometer: Bool {
    @_noLocks @_noAllocation get { hasIdentity }
  }

  /// From a request to its read.
  var conversion: Nanoseconds {
    @_noLocks @_noAllocation get {
      switch self {
      case .seesaw: SeesawSoil.conversion
      case .ads1115(let chip, _): chip.conversionTime
      // It converts while it is read: the gap only spreads the samples.
      case .mcp3008: .milliseconds(5)
      }
    }
  }

  /// A sample in the unit of calibrations: counts, or millivolts of an ADS1115.
  public func raw(_ sample: Int64) -> Double {
    switch self {
    case .seesaw, .mcp3008: Double(sample)
    case .ads1115: Double(sample) / 1_000
    }
  }

  /// Until somebody calibrates it. For converters a common capacitive probe at 3.3 V: 2.6 V in air, 1.1 V in water.
  public var standardCalibration: PlantCalibration {
    switch self {
    case .seesaw: .seesaw
    case .ads1115: .capacitiveMillivolts
    case .mcp3008: .capacitiveCounts
    }
  }
}
