/// What a plant's link has asked of its sprinkler zone: kept, so that a restart does not forget the limits.
public struct PlantWateringRecord: Sendable, Hashable, Codable {
  /// The last request.
  public var last: PlantInstant
  /// Requests on the day of `day`.
  public var count: Int
  /// Days since 1970, by the controller's own calendar.
  public var day: Int

  public init(last: PlantInstant, count: Int, day: Int) {
    self.last = last
    self.count = count
    self.day = day
  }
}
