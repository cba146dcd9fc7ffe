import Tactus

/// What the machine must know of a zone.
public struct ZoneSettings: Sendable, Hashable, BitwiseCopyable {
  /// The line of its valve, 0… in the order of the request, or `nil` if it has none at present: its runs wait. Two zones swap their
  /// lines through nil.
  public var line: UInt8?
  /// A disabled zone never runs.
  public var isEnabled: Bool
  /// No run is longer, s; 1…86,400.
  public var maximumSeconds: UInt32
  /// At most so long in one local day, s, or `nil` for no limit.
  public var maximumSecondsPerDay: UInt32?
  /// 0…15; 0: the group of all ungrouped zones.
  public var group: UInt8
  /// The master valve is open while this zone is.
  public var usesMaster: Bool

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

  /// - Parameter line: which of the requested lines the zone's `gpioPin` is.
  public init(_ zone: Zone, line: UInt8?) {
    self.init(
      line: line, isEnabled: zone.isEnabled, maximumSeconds: UInt32(clamping: zone.maximumSeconds),
      maximumSecondsPerDay: zone.maximumSecondsPerDay.map { UInt32(clamping: $0) },
      group: UInt8(clamping: zone.group ?? 0), usesMaster: zone.usesMaster)
  }
}
