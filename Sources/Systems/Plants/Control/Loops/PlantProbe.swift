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

  /// The chip's address on I2C, or `nil` if it is on SPI. Probes of one address take turns: a chip converts one input at a time.
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

  /// Of `raw` and of calibrations: `counts` or `mV`.
  public var unit: String {
    switch self {
    case .seesaw, .mcp3008: "counts"
    case .ads1115: "mV"
    }
  }

  /// How far the two points of a calibration are apart at least, in `unit`: about a fifteenth of what such a probe spans from dry to
  /// wet, and several times what it trembles by in one soil. 100 mV are 800 steps of an ADS1115 and 31 of an MCP3008 at 3.3 V.
  public var leastSpan: Double {
    switch self {
    case .seesaw, .ads1115: 100
    case .mcp3008: 31
    }
  }

  /// The two points as a calibration of this probe.
  ///
  /// Throws, naming the field and both values, if noise could have made the difference, or if the points of a seesaw are the wrong way
  /// round: it counts more when it is wetter. What a converter measures depends on the probe at its input, so either may be the greater.
  public func calibration(dry: Double, wet: Double) throws(PlantRefusal) -> PlantCalibration {
    let isSeesaw = if case .seesaw = self { true } else { false }
    let least = leastSpan
    let span = isSeesaw ? wet - dry : (wet - dry).magnitude
    guard span >= least else {
      throw PlantRefusal(
        .invalidPlantSettings, field: "wet",
        "expected wet at least \(Int(saturating: least)) \(unit) \(isSeesaw ? "above" : "away from") dry, got dry \(dry) and wet \(wet) \(unit): "
          + (span.magnitude < least
            ? "as much as that a probe trembles in one and the same soil; hold it in dry soil, then in wet"
            : "a seesaw probe counts more in wet soil"))
    }
    return try PlantCalibration(dry: dry, wet: wet)
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
