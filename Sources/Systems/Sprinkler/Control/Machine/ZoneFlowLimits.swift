import Tactus

/// The limits of a zone's flow while the zone is open.
public struct ZoneFlowLimits: Sendable, Hashable, BitwiseCopyable {
  /// A limit and its origin.
  public struct Limit: Sendable, Hashable, BitwiseCopyable {
    /// The flow, in l/min; above 0.
    public var litresPerMinute: Double
    /// The number of runs from which the limit was learnt, or 0 if a person has set it.
    public var runs: UInt8
    /// The instant at which the limit was learnt, s since 1970; 0 if a person has set it.
    public var learntAt: Int64

    /// Creates a limit, not checked.
    @_noLocks @_noAllocation
    public init(litresPerMinute: Double, runs: UInt8 = 0, learntAt: Int64 = 0) {
      self.litresPerMinute = litresPerMinute
      self.runs = runs
      self.learntAt = learntAt
    }
  }
  /// The limit below which the flow is an alarm, or `nil` if that is not watched.
  public var minimum: Limit?
  /// The limit above which the flow is an alarm, or `nil` if that is not watched.
  public var maximum: Limit?
  /// The time over which the flow is measured, and which it is given to settle, 1…3,600 s.
  public var over: Nanoseconds
  /// The effect of an alarm in addition to its notice.
  public var reaction: FlowSettings.Reaction

  /// Creates limits, not checked.
  @_noLocks @_noAllocation
  public init(minimum: Limit? = nil, maximum: Limit? = nil, over: Nanoseconds, reaction: FlowSettings.Reaction) {
    self.minimum = minimum
    self.maximum = maximum
    self.over = over
    self.reaction = reaction
  }
}

/// The finding that the flow is beyond a limit of the only open zone.
public struct ZoneFlowVerdict: Sendable, Hashable, BitwiseCopyable {
  /// The open zone whose flow is beyond a limit.
  public let zone: ZoneID
  /// The flow that was measured, in l/min.
  public let litresPerMinute: Double
  /// The limit that the flow exceeds or falls below.
  public let limit: ZoneFlowLimits.Limit

  @_noLocks @_noAllocation
  init(zone: ZoneID, litresPerMinute: Double, limit: ZoneFlowLimits.Limit) {
    self.zone = zone
    self.litresPerMinute = litresPerMinute
    self.limit = limit
  }
}
