@_spi(FromOutside) import Conversions
import Tactus

/// The parameters of the machine's rules that depend on the installation. An instance is always valid.
public struct IrrigationSettings: Sendable, BitwiseCopyable {
  public static var groupCount: Int {
    @_noLocks @_noAllocation get { 16 }
  }
  /// The number of requested lines, the master valve's included, 1…64.
  public let lineCount: Int
  /// The master valve, or `nil` if the system has no master valve.
  public let master: MasterValve?
  /// The time between the closing of a valve and the next opening in the same group, 0…3,600 s.
  public let stationDelay: Nanoseconds
  /// The greatest number of valves open at the same time, 1…64; with 1, zones run one at a time.
  public let maximumOpen: Int
  /// The greatest number of valves of each group open at the same time, by the group's number, each 1…64.
  public let maximumOpenInGroup: [16 of UInt8]
  /// The flow sensor, or `nil` if the system has no flow sensor.
  public internal(set) var flow: FlowSettings?

  /// The limits whose breach raises a flow alarm; without a sensor nothing is watched.
  public var flowLimits: FlowLimits { flow?.limits ?? FlowLimits() }

  /// Creates the settings, or throws an error for the first one that is out of range.
  ///
  /// - Parameter groups: the greatest number of valves open at the same time, by group, 0…15; the number is 1 for groups that are not listed.
  public init(
    lineCount: Int, master: MasterValve? = nil, stationDelay: Nanoseconds = .zero, maximumOpen: Int = 1,
    groups: [Int: Int] = [:], flow: FlowSettings? = nil
  ) throws(IrrigationSettingsError) {
    guard (1...64).contains(lineCount) else { throw .lineCount(lineCount) }
    if let master, Int(master.line) >= lineCount { throw .masterLine(master.line, lineCount: lineCount) }
    guard stationDelay >= .zero, stationDelay <= .seconds(3_600) else { throw .stationDelay(stationDelay) }
    guard (1...64).contains(maximumOpen) else { throw .maximumOpen(maximumOpen) }
    var limits: [16 of UInt8] = .init(repeating: 1)
    for (group, limit) in groups.sorted(by: { $0.key < $1.key }) {
      guard (0..<Self.groupCount).contains(group), (1...64).contains(limit) else {
        throw .group(group, maximumOpen: limit)
      }
      limits[group] = UInt8(clamping: limit)
    }
    self.lineCount = lineCount
    self.master = master
    self.stationDelay = stationDelay
    self.maximumOpen = maximumOpen
    maximumOpenInGroup = limits
    self.flow = flow
  }
}

/// A valve, or the relay of a pump, that must be open while zones that use it are open.
public struct MasterValve: Sendable, Hashable, BitwiseCopyable {
  public let line: UInt8
  /// The time by which the master valve opens before the zone's valve, −600…600 s; a negative time is after the zone's valve.
  public let lead: Nanoseconds
  /// The time by which the master valve closes after the zone's valve, −600…600 s; a negative time is before the zone's valve.
  public let lag: Nanoseconds

  public init(line: UInt8, lead: Nanoseconds = .zero, lag: Nanoseconds = .zero) throws(IrrigationSettingsError) {
    guard lead.count.magnitude <= Self.limit else { throw .masterLead(lead) }
    guard lag.count.magnitude <= Self.limit else { throw .masterLag(lag) }
    self.line = line
    self.lead = lead
    self.lag = lag
  }

  private static var limit: Int64 { 600_000_000_000 }
}

/// A setting that is out of range, with the requested value.
public enum IrrigationSettingsError: Error, Hashable, Sendable {
  case lineCount(Int)
  case masterLine(UInt8, lineCount: Int)
  case masterLead(Nanoseconds)
  case masterLag(Nanoseconds)
  case stationDelay(Nanoseconds)
  case maximumOpen(Int)
  case group(Int, maximumOpen: Int)
  case pulsesPerLitre(Double)
  case flowTime(Nanoseconds)
  case flowRate(litresPerMinute: Double)
}
