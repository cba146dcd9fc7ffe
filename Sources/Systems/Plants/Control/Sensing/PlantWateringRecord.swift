import Tactus

/// What a plant's link has asked of its sprinkler zone: kept, so that a restart does not forget the limits.
public struct PlantWateringRecord: Sendable, Hashable, Codable {
  /// The last request, as the wall clock said then: for people.
  public var last: PlantInstant
  /// How long ago that is, for the gap; `nil` in a row of an older version.
  var age: KeptAge?
  /// Requests on the day of `day`.
  public var count: Int
  /// Days since 1970, by the controller's own calendar.
  public var day: Int

  public init(last: PlantInstant, count: Int, day: Int) {
    age = nil
    self.last = last
    self.count = count
    self.day = day
  }
}
