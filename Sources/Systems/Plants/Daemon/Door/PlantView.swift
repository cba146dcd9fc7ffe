import Plants
import Tactus

/// What the desk last said: for documents, metrics and topics, which never wait for the disk.
struct PlantView: Sendable {
  /// Another one whenever something here is.
  internal(set) var version: UInt64 = 0
  /// When the monitor last looked.
  internal(set) var at = TickInstant.zero
  internal(set) var records: PlantRecords
  /// Whether the store could be read: until then there are no plants because they are unknown.
  internal(set) var isLoaded: Bool
  internal(set) var conditions: [PlantID: PlantCondition] = [:]
  /// The last of each sensor, stale or not.
  var readings: [PlantSensorID: PlantReading] = [:]
  /// Messages by what became of them, and replies to them.
  internal(set) var outcomes: [String: Int64] = [:]
  internal(set) var replies: Int64 = 0
  /// The last change that the store refused; nil: it has taken all since.
  var storeFailure: String?
  /// Rows and lines of history that were lost because the store refused for too long.
  var lost: Int64 = 0

  init(records: PlantRecords, isLoaded: Bool) { (self.records, self.isLoaded) = (records, isLoaded) }
}
