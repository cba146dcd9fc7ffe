/// A zone as its owner describes it: kept in the store, changed by `PUT /api/zones`.
///
/// Which lines exist and which level opens a valve belong to the wiring and are said in the configuration; a zone only chooses
/// one of those lines.
public struct Zone: Sendable, Hashable, Codable {
  public var id: ZoneID
  /// 1…40 characters.
  public var name: String
  /// The GPIO line's number among the configured ones (BCM on a Raspberry Pi). No two zones share one.
  public var gpioPin: Int
  /// A disabled zone never runs.
  public var isEnabled: Bool
  /// For a run without a duration of its own, s; 1…`maximumSeconds`.
  public var defaultSeconds: Int
  /// No run is longer, s; 1…86,400.
  public var maximumSeconds: Int
  /// At most so long in one local day, all runs together, s, or `nil` for no limit.
  public var maximumSecondsPerDay: Int?
  /// Zones of one group share its limit of open valves, or `nil` for the group of all ungrouped zones.
  public var group: Int?
  /// Runs of programs happen during a rain delay, too.
  public var ignoresRain: Bool
  /// The master valve is open while this zone is.
  public var usesMaster: Bool

  public init(
    id: ZoneID, name: String, gpioPin: Int, isEnabled: Bool = true, defaultSeconds: Int = 600,
    maximumSeconds: Int = 7_200, maximumSecondsPerDay: Int? = nil, group: Int? = nil, ignoresRain: Bool = false,
    usesMaster: Bool = true
  ) {
    self.id = id
    self.name = name
    self.gpioPin = gpioPin
    self.isEnabled = isEnabled
    self.defaultSeconds = defaultSeconds
    self.maximumSeconds = maximumSeconds
    self.maximumSecondsPerDay = maximumSecondsPerDay
    self.group = group
    self.ignoresRain = ignoresRain
    self.usesMaster = usesMaster
  }
}
