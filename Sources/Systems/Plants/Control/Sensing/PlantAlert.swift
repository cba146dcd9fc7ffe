/// A problem of a plant.
public enum PlantAlert: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
  case dry
  case wet
  case cold
  case hot
  /// One of the plant's sensors has not been read for too long. A reading that does not change is not a fault.
  case silent

  public static func < (left: Self, right: Self) -> Bool {
    allCases.firstIndex(of: left)! < allCases.firstIndex(of: right)!
  }
}

/// A limit with hysteresis: an alert is raised beyond the limit and cleared only well within it, so that a reading that varies about the limit does
/// not raise the alert repeatedly.
enum PlantBand {
  /// The hysteresis of the moisture in percentage points.
  static let moisture = 5.0
  static let celsius = 1.0

  /// Returns whether the value is below `limit`. `greatest` is the upper end of the scale, so that even a high limit can be cleared.
  static func isBelow(_ value: Double?, _ limit: Double?, wasRaised: Bool, band: Double, greatest: Double) -> Bool {
    guard let value, let limit else { return false }
    return wasRaised ? value < min(limit + band, greatest) : value < limit
  }

  static func isAbove(_ value: Double?, _ limit: Double?, wasRaised: Bool, band: Double, least: Double) -> Bool {
    guard let value, let limit else { return false }
    return wasRaised ? value > max(limit - band, least) : value > limit
  }
}
