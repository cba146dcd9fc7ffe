import Tactus

/// What a flow sensor must not say.
public struct FlowLimits: Sendable, Hashable, BitwiseCopyable {
  /// Less than this while a valve is open is no flow, or `nil` if it is not watched.
  public var noFlow: FlowSettings.Watch?
  /// More than this while a valve is open is a burst pipe, or `nil` if it is not watched.
  public var highFlow: FlowSettings.Watch?
  /// More than this while all is closed is a leak, or `nil` if it is not watched.
  public var leak: FlowSettings.Watch?

  /// Each watches what it is given, and nothing by default.
  @_noLocks @_noAllocation
  public init(
    noFlow: FlowSettings.Watch? = nil, highFlow: FlowSettings.Watch? = nil, leak: FlowSettings.Watch? = nil
  ) {
    self.noFlow = noFlow
    self.highFlow = highFlow
    self.leak = leak
  }

  /// The limits that let through no more than either of the two: what one of them watches is watched, by the limit that is reached first,
  /// over the shorter time, and it is a fault if it is one for either.
  public func tighter(than other: FlowLimits) -> FlowLimits {
    FlowLimits(
      noFlow: FlowSettings.Watch.tighter(noFlow, other.noFlow, limit: max),
      highFlow: FlowSettings.Watch.tighter(highFlow, other.highFlow, limit: min),
      leak: FlowSettings.Watch.tighter(leak, other.leak, limit: min))
  }

  /// Whether the limit is watched whose alarm this is.
  @_noLocks @_noAllocation
  func watches(_ alarm: FlowAlarm) -> Bool {
    switch alarm {
    case .noFlow: if case .some = noFlow { true } else { false }
    case .highFlow: if case .some = highFlow { true } else { false }
    case .leak: if case .some = leak { true } else { false }
    }
  }
}

extension FlowSettings.Watch {
  fileprivate static func tighter(
    _ one: FlowSettings.Watch?, _ other: FlowSettings.Watch?, limit: (Double, Double) -> Double
  ) -> FlowSettings.Watch? {
    guard let one, let other else { return one ?? other }
    do {
      return try FlowSettings.Watch(
        litresPerMinute: limit(one.litresPerMinute, other.litresPerMinute), over: min(one.over, other.over),
        reaction: one.reaction == .fault ? .fault : other.reaction)
    } catch {
      preconditionFailure("each of them was allowed: \(error)")
    }
  }
}
