import Tactus

/// The numbers of the machine's rules that belong to the installation. Valid once made.
public struct IrrigationSettings: Sendable, BitwiseCopyable {
  public static var groupCount: Int {
    @_noLocks @_noAllocation get { 16 }
  }
  /// Lines that were requested, the master valve's included, 1…64.
  public let lineCount: Int
  /// The master valve, or `nil` if there is none.
  public let master: MasterValve?
  /// Time between a closing in a group and the next opening in that group, 0…3,600 s.
  public let stationDelay: Nanoseconds
  /// Valves open at the same time in all, 1…64. 1 is the single-zone policy.
  public let maximumOpen: Int
  /// Valves of a group that are open at the same time, by the group's number, each 1…64.
  public let maximumOpenInGroup: [16 of UInt8]
  /// The flow sensor, or `nil` if there is none.
  public internal(set) var flow: FlowSettings?

  /// Limits whose breach by the flow is an alarm. Without a sensor there are none.
  public var flowLimits: FlowLimits { flow?.limits ?? FlowLimits() }

  /// Throws the first setting that is out of range.
  ///
  /// - Parameter groups: by group 0…15, valves open in it at the same time; groups not named have one.
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

/// A valve (or a pump's relay) that every zone that uses it needs.
public struct MasterValve: Sendable, Hashable, BitwiseCopyable {
  public let line: UInt8
  /// How long before a zone's valve it opens, −600…600 s; a negative time is after the zone's valve.
  public let lead: Nanoseconds
  /// How long after a zone's valve it closes, −600…600 s; a negative time is before the zone's valve.
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

/// A setting out of range, with the value that was asked for.
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
