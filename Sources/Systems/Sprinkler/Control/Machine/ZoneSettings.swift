import Tactus

/// The settings of a zone that the machine needs.
public struct ZoneSettings: Sendable, Hashable, BitwiseCopyable {
  /// The index of the valve's line among the requested lines, or `nil` if the zone has no line at present, so that its runs wait.
  /// Two zones exchange their lines by way of `nil`.
  public var line: UInt8?
  /// Whether the zone may run; a disabled zone never runs.
  public var isEnabled: Bool
  /// The longest run, in seconds; 1…86,400.
  public var maximumSeconds: UInt32
  /// The longest total time in one local day, in seconds, or `nil` for no limit.
  public var maximumSecondsPerDay: UInt32?
  /// The zone's group, 0…15; 0 is the group of all ungrouped zones.
  public var group: UInt8
  /// Whether the master valve is open while this zone is open.
  public var usesMaster: Bool
  /// The limits of the zone's flow while no other zone is open, or `nil` if the flow is not watched.
  public var flow: ZoneFlowLimits?

  @_noLocks @_noAllocation
  public init(
    line: UInt8?, isEnabled: Bool = true, maximumSeconds: UInt32 = 7_200, maximumSecondsPerDay: UInt32? = nil,
    group: UInt8 = 0, usesMaster: Bool = true
  ) {
    self.line = line
    self.isEnabled = isEnabled
    self.maximumSeconds = maximumSeconds
    self.maximumSecondsPerDay = maximumSecondsPerDay
    self.group = group
    self.usesMaster = usesMaster
  }

  /// Creates the machine's settings from a stored zone.
  ///
  /// - Parameter line: the index of the zone's `gpioPin` among the requested lines, or `nil` if that pin was not requested.
  public init(_ zone: Zone, line: UInt8?) {
    self.init(
      line: line, isEnabled: zone.isEnabled, maximumSeconds: UInt32(clamping: zone.maximumSeconds),
      maximumSecondsPerDay: zone.maximumSecondsPerDay.map { UInt32(clamping: $0) },
      group: UInt8(clamping: zone.group ?? 0), usesMaster: zone.usesMaster)
  }
}
