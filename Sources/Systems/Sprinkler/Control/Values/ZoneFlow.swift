import WallTime

/// The limits of a zone's flow in the configuration.
public struct ZoneFlowRule: Sendable, Hashable {
  /// The flow below which there is an alarm, in l/min, or `nil` if no limit is set.
  public var minimum: Double?
  /// The flow above which there is an alarm, in l/min, or `nil` if no limit is set.
  public var maximum: Double?
  /// Whether the zone's usual flow is learnt from its runs.
  public var isLearnt: Bool

  /// Creates a rule, not checked.
  public init(minimum: Double? = nil, maximum: Double? = nil, isLearnt: Bool = false) {
    self.minimum = minimum
    self.maximum = maximum
    self.isLearnt = isLearnt
  }
}

/// The settings by which the flow of zones is watched and learnt.
public struct ZoneFlowSettings: Sendable, Hashable {
  /// The number of runs from which a zone's usual flow is learnt, 2…50.
  public var runs = 5
  /// The greatest difference of the flow from the learnt flow, in percent of the learnt flow, 5…90.
  public var percent = 30
  /// The time over which the flow is measured, and which it is given to settle, in seconds; 1…3,600.
  public var settleSeconds = 30
  /// Whether an alarm closes every valve; otherwise it is a notice.
  public var isFault = true

  /// Creates the standard settings.
  public init() {}
}

/// The known flow of a zone: the runs so far from which it is being learnt, or the usual flow.
public struct ZoneFlow: Sendable, Hashable, Codable {
  /// The zone whose flow this is.
  public var zone: ZoneID
  /// The flow of each run so far, in l/min, in their order; empty once the usual flow is known.
  public internal(set) var samples: [Double] = []
  /// The usual flow, l/min: the median of the runs; `nil` while it is not known.
  public internal(set) var litresPerMinute: Double?
  /// The number of runs from which the usual flow was learnt; 0 while it is not known.
  public internal(set) var runs = 0
  /// The instant at which the flow was learnt, or `nil` while it is not known.
  public internal(set) var learntAt: WallInstant?

  /// Creates the flow of a zone of which no run has been measured.
  public init(zone: ZoneID) { self.zone = zone }
}

/// The flow of a zone for people.
public struct ZoneFlowStatus: Sendable, Hashable {
  /// The zone whose flow this is.
  public var zone: ZoneID
  /// The known flow, or `nil` if no run has been measured or nothing is learnt.
  public var flow: ZoneFlow?
  /// The number of runs from which the flow is learnt, or `nil` if nothing is learnt.
  public var neededRuns: Int?
  /// The flow below which there is an alarm now, in l/min, or `nil` if there is no such limit.
  public var minimum: Double?
  /// The flow above which there is an alarm now, in l/min, or `nil` if there is no such limit.
  public var maximum: Double?
  /// The origin of the limits, in words.
  public var words: String
}
