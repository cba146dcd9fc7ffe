import Plants
import Tactus

/// What the desk last said: for documents, metrics and topics, which never wait for the disk.
public struct PlantView: Sendable {
  /// Another one whenever something here is.
  var version: UInt64 = 0
  /// When the monitor last looked.
  var at = TickInstant.zero
  /// Every plant, as it is on the disk.
  public var records: PlantRecords
  /// Whether the store could be read: until then there are no plants because they are unknown.
  var isLoaded: Bool
  /// What the monitor says of each plant.
  public var conditions: [PlantID: PlantCondition] = [:]
  /// The last of each sensor, stale or not.
  public var readings: [PlantSensorID: PlantReading] = [:]
  /// Messages by what became of them, and replies to them.
  var outcomes: [String: Int64] = [:]
  var replies: Int64 = 0
  /// The last change that the store refused, or `nil` if it has taken all since.
  var storeFailure: String?
  /// Rows and lines of history that were lost because the store refused for too long.
  var lost: Int64 = 0

  init(records: PlantRecords, isLoaded: Bool) { (self.records, self.isLoaded) = (records, isLoaded) }
}
