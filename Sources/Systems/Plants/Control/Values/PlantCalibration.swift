import Tactus

/// Two points on a probe's scale: in dry soil (or air), and in wet soil (or water). Either may be the greater.
///
/// Capacitive probes on a converter are inverted: dry is the higher voltage.
public struct PlantCalibration: Sendable, Hashable, Codable {
  public let dry: Double
  public let wet: Double

  /// Creates a calibration. Throws an error unless both values are finite and different.
  public init(dry: Double, wet: Double) throws(PlantRefusal) {
    guard dry.isFinite, wet.isFinite, dry != wet else {
      throw PlantRefusal(.invalidPlantSettings, field: "wet", "expected two different numbers, got \(dry) and \(wet)")
    }
    self.dry = dry
    self.wet = wet
  }

  private init(_ dry: Double, _ wet: Double) {
    self.dry = dry
    self.wet = wet
  }

  /// The typical counts of a seesaw soil probe: 200 is very dry, 2000 very wet.
  public static let seesaw = Self(200, 2000)
  /// The values of a common capacitive probe at 3.3 V on an ADS1115: 2600 mV in air, 1100 mV in water. Probes differ from each other.
  public static let capacitiveMillivolts = Self(2600, 1100)
  /// The counts of a common capacitive probe at 3.3 V on an MCP3008: 807 in air, 341 in water.
  public static let capacitiveCounts = Self(807, 341)

  /// The calibration of a sensor that reports percentages itself.
  public static let percent = Self(0, 100)

  /// Returns the moisture: linear between the points, clamped to 0…100 %.
  public func percent(_ raw: Double) -> Double {
    let percent = (raw - dry) * 100 / (wet - dry)
    // Not a number clamps to 0, the side that raises an alert.
    return percent > 0 ? min(percent, 100) : 0
  }

  /// Returns the original host's bar for a seesaw probe's counts: round((raw − 300) · 10 ÷ 700), there −1…24 and here clamped to 0…10. Halves are
  /// rounded to even, as in Python.
  public static func originalScale(_ raw: Double) -> Int {
    let scale = ((raw - 300) * 10 / 700).rounded(.toNearestOrEven)
    return scale > 0 ? Int(saturating: min(scale, 10)) : 0
  }

  enum CodingKeys: CodingKey { case dry, wet }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    do {
      try self.init(
        dry: container.decode(Double.self, forKey: .dry), wet: container.decode(Double.self, forKey: .wet))
    } catch let refusal as PlantRefusal {
      throw DecodingError.dataCorruptedError(forKey: .wet, in: container, debugDescription: refusal.message)
    }
  }
}

/// A sensor's reading of a plant.
public struct PlantReading: Sendable, Hashable {
  /// The median of a reading's samples in the chip's native counts.
  public var raw: Double
  /// The moisture, 0…100 %, by the sensor's calibration.
  public var moisturePercent: Double
  /// The value of the original host's bar, 0…10.
  public var scale: Int
  /// The temperature, or `nil` if the sensor has no thermometer or the thermometer did not answer.
  public var celsius: Double?
  /// The instant at which the reading was taken. Its age decides whether it is valid, not whether the value has changed.
  public var at: TickInstant

  public init(raw: Double, moisturePercent: Double, scale: Int, celsius: Double? = nil, at: TickInstant) {
    self.raw = raw
    self.moisturePercent = moisturePercent
    self.scale = scale
    self.celsius = celsius
    self.at = at
  }

  /// The temperature in degrees Fahrenheit, truncated to whole degrees as the original host reports it; `nil` if there is none.
  public var fahrenheit: Int? {
    guard let celsius else { return nil }
    return Int(saturating: celsius * 9 / 5 + 32)
  }
}
