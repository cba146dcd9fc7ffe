import Plants

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

    /// - Parameters: see the properties.
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
