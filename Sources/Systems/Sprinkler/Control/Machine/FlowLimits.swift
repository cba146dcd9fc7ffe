import Tactus

/// The limits whose breach raises a flow alarm.
public struct FlowLimits: Sendable, Hashable, BitwiseCopyable {
  /// The flow below which an open valve counts as having no flow, or `nil` if that is not watched.
  public var noFlow: FlowSettings.Watch?
  /// The flow above which an open valve means a burst pipe, or `nil` if that is not watched.
  public var highFlow: FlowSettings.Watch?
  /// The flow above which closed valves mean a leak, or `nil` if that is not watched.
  public var leak: FlowSettings.Watch?

  /// Creates limits from the given watches; by default nothing is watched.
  @_noLocks @_noAllocation
  public init(
    noFlow: FlowSettings.Watch? = nil, highFlow: FlowSettings.Watch? = nil, leak: FlowSettings.Watch? = nil
  ) {
    self.noFlow = noFlow
    self.highFlow = highFlow
    self.leak = leak
  }

  /// Returns limits that are at least as strict as both. A watch that either has is kept, with the stricter limit and the shorter time of
  /// the two, and a watch that causes a fault in either causes one in the result.
  public func tighter(than other: FlowLimits) -> FlowLimits {
    FlowLimits(
      noFlow: FlowSettings.Watch.tighter(noFlow, other.noFlow, limit: max),
      highFlow: FlowSettings.Watch.tighter(highFlow, other.highFlow, limit: min),
      leak: FlowSettings.Watch.tighter(leak, other.leak, limit: min))
  }

  /// Returns whether the limit that raises this alarm is watched.
  @_noLocks @_noAllocation
  func watches(_ alarm: FlowAlarm) -> Bool {
    switch alarm {
    case .noFlow: if case .some = noFlow { true } else { false }
    case .highFlow: if case .some = highFlow { true } else { false }
    case .leak: if case .some = leak { true } else { false }
    // These two alarms belong to the limits of a zone, which are checked elsewhere.
    case .belowLimit, .aboveLimit: true
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
