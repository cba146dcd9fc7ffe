/// The newest readings that a system which measures soil offers to other systems. The value may be used from any thread.
public struct SoilMoisture: Sendable {
  /// Returns the newest reading of a place, such as a plant, by its number, or `nil` if there is no such place or none of its probes has a recent reading.
  public let reading: @Sendable (_ probe: Int) -> SoilReading?

  /// Creates the offer of a closure that is called on any thread and must not wait for the disk.
  public init(reading: @escaping @Sendable (_ probe: Int) -> SoilReading?) { self.reading = reading }
}

/// The moisture of the soil at one place.
public struct SoilReading: Sendable, Hashable {
  /// The moisture, 0…100 %.
  public let percent: Double
  /// The age of the newest reading of the place's probes, 0 s or more.
  public let ageSeconds: Double

  /// Creates a reading without checking the values.
  public init(percent: Double, ageSeconds: Double) {
    self.percent = percent
    self.ageSeconds = ageSeconds
  }
}
