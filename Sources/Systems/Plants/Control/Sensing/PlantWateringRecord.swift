import Tactus

/// The requests of a plant's link to a sprinkler zone, stored so that the limits hold across a restart.
public struct PlantWateringRecord: Sendable, Hashable, Codable {
  /// The wall-clock time of the last request, for display.
  public var last: PlantInstant
  /// The time elapsed since the last request, for the gap; `nil` in a row of an older version.
  var age: KeptAge?
  /// The number of requests on the day `day`.
  public var count: Int
  /// Days since 1970 in the controller's local calendar.
  public var day: Int

  public init(last: PlantInstant, count: Int, day: Int) {
    age = nil
    self.last = last
    self.count = count
    self.day = day
  }
}
