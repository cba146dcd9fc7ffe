/// Everything that survives the process, as one value: the content of a store at the start, and of a backup.
///
/// The history is not included (see `PlantHistoryRow`).
public struct PlantRecords: Sendable, Hashable, Codable {
  /// The plants, each user's in the order in which they were added.
  public var plants: [Plant] = []
  /// The number of the next plant.
  public var nextPlant: UInt64 = 1
  public var calibrations: [PlantSensorID: PlantCalibration] = [:]
  /// The requests of each plant's link to a sprinkler zone.
  public var waterings: [PlantID: PlantWateringRecord] = [:]
  /// The calibrations in the configuration at the last start, or `nil` if no start has stored them yet.
  public var fileCalibrations: [PlantSensorID: PlantCalibration]?

  public init() {}
}

/// One change of the records. A store makes a list of changes in one transaction: all or nothing.
public enum PlantChange: Sendable, Hashable {
  /// A plant is new or has changed.
  case plant(Plant)
  /// A plant was removed, with everything stored under its number.
  case plantRemoved(PlantID)
  case nextPlant(UInt64)
  /// A sensor's calibration has changed; `nil` restores the sensor's default calibration.
  case calibration(PlantSensorID, PlantCalibration?)
  case watering(PlantID, PlantWateringRecord)
  /// The calibrations in the configuration at this start.
  case fileCalibrations([PlantSensorID: PlantCalibration])
  /// Everything is replaced by a restored backup, except the history.
  case everything(PlantRecords)
}

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
