import Devices
import Tactus

/// A soil probe and where it is wired.
public enum PlantProbe: Sendable, Hashable, BitwiseCopyable {
  /// A seesaw probe, which returns counts (more is wetter) and has a thermometer.
  case seesaw(SeesawSoil)
  /// A probe at input `channel`, 0…3, of an ADS1115, which returns microvolts; capacitive probes give more when dry.
  case ads1115(ADS1115, channel: Int)
  /// A probe at input `channel`, 0…7, of an MCP3008 on the loop's SPI port, which returns counts.
  case mcp3008(channel: Int)
  /// A sensor that measures by itself and advertises its moisture, in hundredths of a per cent, and its temperature by Bluetooth.
  case radio(RadioAddress)

  /// The chip's I2C address, or `nil` if the chip is on SPI. Probes with the same address take turns, because a chip converts one input at a time.
  var address: UInt8? {
    @_noLocks @_noAllocation get {
      switch self {
      case .seesaw(let chip): chip.address.value
      case .ads1115(let chip, _): chip.address.value
      case .mcp3008, .radio: nil
      }
    }
  }

  /// The address of a sensor on the radio, or `nil` of a probe that is wired.
  public var radio: RadioAddress? {
    if case .radio(let address) = self { address } else { nil }
  }

  /// Whether the probe is read by the SPI port.
  var isOnSPI: Bool {
    if case .mcp3008 = self { true } else { false }
  }

  /// Whether the chip can be identified: it is then reset and identified before its first reading and after a failed one.
  var hasIdentity: Bool {
    @_noLocks @_noAllocation get {
      switch self {
      case .seesaw: true
      case .ads1115, .mcp3008, .radio: false
      }
    }
  }

  var hasThermometer: Bool {
    @_noLocks @_noAllocation get { hasIdentity }
  }

  /// The time from a request to the reading of its result.
  var conversion: Nanoseconds {
    @_noLocks @_noAllocation get {
      switch self {
      case .seesaw: SeesawSoil.conversion
      case .ads1115(let chip, _): chip.conversionTime
      // The chip converts while it is read, so the gap only spreads the samples.
      case .mcp3008, .radio: .milliseconds(5)
      }
    }
  }

  /// Returns a sample in the unit of calibrations: counts, millivolts of an ADS1115, or the percentage that a radio sensor advertises.
  public func raw(_ sample: Int64) -> Double {
    switch self {
    case .seesaw, .mcp3008: Double(sample)
    case .ads1115: Double(sample) / 1_000
    case .radio: Double(sample) / 100
    }
  }

  /// The range that a probe in soil can read, in the unit of `raw`. An open or shorted wire puts a converter's input at the ends of the range, and a
  /// seesaw without its plate counts nothing. Capacitive probes give 1.0…3.0 V.
  private var possible: ClosedRange<Double> {
    switch self {
    case .seesaw: 1...Double(SeesawSoil.greatestMoisture)
    case .ads1115: 20...3_250
    case .mcp3008: 3...1_020
    case .radio: 0...100
    }
  }

  /// Returns whether soil can be the cause of a value in the unit of `raw`. A probe whose calibration has a wider range, such as a resistive probe
  /// that reads the supply's voltage in dry soil, may read values in that range.
  public func canBeSoil(_ raw: Double, _ points: PlantCalibration) -> Bool {
    let (least, most) = (min(points.dry, points.wet), max(points.dry, points.wet))
    return raw >= min(possible.lowerBound, least) && raw <= max(possible.upperBound, most)
  }

  /// The unit of `raw` and of calibrations: `counts`, `mV` or `%`.
  public var unit: String {
    switch self {
    case .seesaw, .mcp3008: "counts"
    case .ads1115: "mV"
    case .radio: "%"
    }
  }

  /// The smallest allowed distance between the two points of a calibration, in `unit`: about a fifteenth of the range of such a probe from dry to
  /// wet, and several times its noise in one soil. 100 mV are 800 steps of an ADS1115 and 31 of an MCP3008 at 3.3 V.
  public var leastSpan: Double {
    switch self {
    case .seesaw, .ads1115: 100
    case .mcp3008: 31
    case .radio: 10
    }
  }

  /// Returns the two points as a calibration of this probe.
  ///
  /// Throws an error with the field and both values if the difference could be noise, or if the points of a seesaw are in the wrong order: its counts
  /// increase with moisture. With a converter the order depends on the probe at its input, so either point may be the greater.
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

  /// The calibration used until a person calibrates the probe. For converters it is that of a common capacitive probe at 3.3 V: 2.6 V in air, 1.1 V
  /// in water.
  public var standardCalibration: PlantCalibration {
    switch self {
    case .seesaw: .seesaw
    case .ads1115: .capacitiveMillivolts
    case .mcp3008: .capacitiveCounts
    case .radio: .percent
    }
  }
}
