/// An instant of the wall clock in whole seconds since 1970 in UTC, for records. Time limits use the runtime's clock instead.
public struct PlantInstant: Sendable, Hashable, Comparable, Codable {
  public var secondsSince1970: Int64

  public init(secondsSince1970: Int64) { self.secondsSince1970 = secondsSince1970 }

  public static func < (left: Self, right: Self) -> Bool { left.secondsSince1970 < right.secondsSince1970 }
  public static func + (left: Self, seconds: Int64) -> Self { Self(secondsSince1970: left.secondsSince1970 &+ seconds) }
  public static func - (left: Self, seconds: Int64) -> Self { Self(secondsSince1970: left.secondsSince1970 &- seconds) }
  /// Returns the difference in seconds.
  public static func - (left: Self, right: Self) -> Int64 { left.secondsSince1970 &- right.secondsSince1970 }

  public init(from decoder: any Decoder) throws {
    secondsSince1970 = try decoder.singleValueContainer().decode(Int64.self)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(secondsSince1970)
  }
}
