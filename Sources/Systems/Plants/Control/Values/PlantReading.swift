import Tactus

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
  /// When the reading was taken. Its age decides whether it is valid, not whether the value has changed.
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
