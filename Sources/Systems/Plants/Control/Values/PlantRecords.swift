/// Everything that survives the process, as one value: what a store gives at the start, and what a backup holds.
///
/// History is not among it: see `PlantHistoryRow`.
public struct PlantRecords: Sendable, Hashable, Codable {
  /// Each user's in the order in which they were added.
  public var plants: [Plant] = []
  /// The next plant's number.
  public var nextPlant: UInt64 = 1
  public var calibrations: [PlantSensorID: PlantCalibration] = [:]
  /// What each plant's link to a sprinkler zone has asked for.
  public var waterings: [PlantID: PlantWateringRecord] = [:]
  /// How the configuration calibrated each sensor when it was last read, or `nil` if no start has noted it yet.
  public var fileCalibrations: [PlantSensorID: PlantCalibration]?

  public init() {}
}

/// One change of the records. A store makes a list of them in one transaction: all of it or nothing.
public enum PlantChange: Sendable, Hashable {
  /// New or changed.
  case plant(Plant)
  /// With all that is kept under its number.
  case plantRemoved(PlantID)
  case nextPlant(UInt64)
  /// Nil: the sensor's own scale again.
  case calibration(PlantSensorID, PlantCalibration?)
  case watering(PlantID, PlantWateringRecord)
  /// The calibrations that the file had at this start.
  case fileCalibrations([PlantSensorID: PlantCalibration])
  /// Everything at once, for a restored backup. History stays.
  case everything(PlantRecords)
}
