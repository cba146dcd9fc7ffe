/// What a system that measures soil offers to other systems: the newest readings. Any thread.
public struct SoilMoisture: Sendable {
  /// Returns the newest reading of a place, such as a plant, by its number, or `nil` if there is no such place or none of its probes has a recent reading.
  public let reading: @Sendable (_ probe: Int) -> SoilReading?

  /// The closure is called on any thread and must not wait for the disk.
  public init(reading: @escaping @Sendable (_ probe: Int) -> SoilReading?) { self.reading = reading }
}

/// How moist the soil of one place is.
public struct SoilReading: Sendable, Hashable {
  /// The moisture, 0…100 %.
  public let percent: Double
  /// How long ago the newest of its probes was read, 0 s or more.
  public let ageSeconds: Double

  /// A reading, not checked.
  public init(percent: Double, ageSeconds: Double) {
    self.percent = percent
    self.ageSeconds = ageSeconds
  }
}
