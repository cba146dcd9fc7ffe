import Tactus

/// What a sensor says about a plant.
public struct PlantReading: Sendable, Hashable {
  /// Median of a reading's samples, in the chip's own counts.
  public var raw: Double
  /// 0…100 %, by the sensor's calibration.
  public var moisturePercent: Double
  /// 0…10, as the original host reckons.
  public var scale: Int
  /// Nil: a sensor without a thermometer, or one that did not answer.
  public var celsius: Double?
  /// When it was read. A reading that does not change is as good as one that does; one that is not repeated is not.
  public var at: TickInstant

  public init(raw: Double, moisturePercent: Double, scale: Int, celsius: Double? = nil, at: TickInstant) {
    self.raw = raw
    self.moisturePercent = moisturePercent
    self.scale = scale
    self.celsius = celsius
    self.at = at
  }

  /// Whole degrees without their fraction, as the original host reports them.
  public var fahrenheit: Int? {
    guard let celsius else { return nil }
    return Int(saturating: celsius * 9 / 5 + 32)
  }
}
