import Plants
import Tactus

/// The desk's last published data, for documents, metrics and topics, which never wait for the disk.
public struct PlantView: Sendable {
  /// A number that changes whenever any data of the view changes.
  var version: UInt64 = 0
  /// The instant at which the monitor last made a step.
  var at = TickInstant.zero
  /// All plants, as they are on the disk.
  public var records: PlantRecords
  /// Whether the store could be read; until then the plants are unknown and none are listed.
  var isLoaded: Bool
  /// The condition of each plant according to the monitor.
  public var conditions: [PlantID: PlantCondition] = [:]
  /// The last reading of each sensor, stale or not.
  public var readings: [PlantSensorID: PlantReading] = [:]
  /// The sensors whose last value is impossible in soil.
  var impossible: Set<PlantSensorID> = []
  /// The number of messages by outcome.
  var outcomes: [String: Int64] = [:]
  /// The number of replies to messages.
  var replies: Int64 = 0
  /// The reason why the store rejected the last change, or `nil` if it has accepted all since.
  var storeFailure: String?
  /// The number of rows and lines of the history lost because the store rejected them for too long.
  var lost: Int64 = 0

  init(records: PlantRecords, isLoaded: Bool) { (self.records, self.isLoaded) = (records, isLoaded) }
}

extension PlantDesk {
  /// The sensors and settings from which a desk is made.
  public struct Parts: Sendable {
    /// The sensors in the order of the sensor loop.
    public var sensors: [PlantMonitor.Sensor]
    var host: PlantHostSettings
    var rules: PlantBookRules
    var detector: PlantRiseDetector
    var tiers: [PlantHistoryTier]
    /// The settings of the links to the water supply, by plant; empty if there are no links.
    var links: [PlantID: PlantWateringSettings]

    /// Creates the parts; the parameters are those of the properties with the same names.
    public init(
      sensors: [PlantMonitor.Sensor], host: PlantHostSettings = PlantHostSettings(),
      rules: PlantBookRules = PlantBookRules(), detector: PlantRiseDetector = PlantRiseDetector(),
      tiers: [PlantHistoryTier] = PlantHistoryTier.standard, links: [PlantID: PlantWateringSettings] = [:]
    ) {
      self.sensors = sensors
      self.host = host
      self.rules = rules
      self.detector = detector
      self.tiers = tiers
      self.links = links
    }
  }
}
