/// What is wrong with a plant.
public enum PlantAlert: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
  case dry
  case wet
  case cold
  case hot
  /// One of its sensors has not been read for too long. That a reading does not change is no fault.
  case silent

  public static func < (left: Self, right: Self) -> Bool {
    allCases.firstIndex(of: left)! < allCases.firstIndex(of: right)!
  }
}

/// A limit with a band: raised beyond the limit, cleared only well within it, so that a reading that trembles about the limit
/// does not make an alert a minute.
enum PlantBand {
  /// Percentage points of moisture.
  static let moisture = 5.0
  static let celsius = 1.0

  /// Below `limit`. `greatest`: where the scale ends, so that a high limit can be cleared at all.
  static func isBelow(_ value: Double?, _ limit: Double?, wasRaised: Bool, band: Double, greatest: Double) -> Bool {
    guard let value, let limit else { return false }
    return wasRaised ? value < min(limit + band, greatest) : value < limit
  }

  static func isAbove(_ value: Double?, _ limit: Double?, wasRaised: Bool, band: Double, least: Double) -> Bool {
    guard let value, let limit else { return false }
    return wasRaised ? value > max(limit - band, least) : value > limit
  }
}
