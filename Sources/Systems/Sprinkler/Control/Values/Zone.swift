/// A zone as the user describes it: kept in the store, changed by `PUT /api/zones`.
///
/// The configuration says which GPIO lines exist and which level opens a valve, as those are properties of the wiring; a zone only selects
/// one of those lines.
public struct Zone: Sendable, Hashable, Codable {
  public var id: ZoneID
  /// The zone's name, 1…40 characters.
  public var name: String
  /// The number of the valve's GPIO line, one of those configured (BCM numbering on a Raspberry Pi). No two zones share a line.
  public var gpioPin: Int
  /// Whether the zone may run; a disabled zone never runs.
  public var isEnabled: Bool
  /// The duration of a run for which no duration is given, in seconds; 1…`maximumSeconds`.
  public var defaultSeconds: Int
  /// The longest run, in seconds; 1…86,400.
  public var maximumSeconds: Int
  /// The longest total time of all runs in one local day, in seconds, or `nil` for no limit.
  public var maximumSecondsPerDay: Int?
  /// The group whose limit of open valves the zone shares, or `nil` for the group of all ungrouped zones.
  public var group: Int?
  /// Whether programs also water this zone during a rain delay.
  public var ignoresRain: Bool
  /// Whether the master valve is open while this zone is open.
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
