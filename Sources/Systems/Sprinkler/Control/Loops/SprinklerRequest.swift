import Tactus

/// What the scheduler or a client inside the daemon asks of the valves.
///
/// Every request that the loop takes is answered with a `SprinklerAnswer` of the same number, in the order of the requests.
public struct SprinklerRequest: Sendable, Hashable, BitwiseCopyable {
  public enum Order: Sendable, Hashable, BitwiseCopyable {
    case run(ZoneRun, RunPlacement)
    case extend(ZoneID, seconds: UInt32)
    case off(ZoneID, dropsQueued: Bool)
    case cancel(run: UInt64)
    case allOff
    case skip
    case clearQueue
    case pause(seconds: UInt32)
    case resume
    case rain(isActive: Bool, endsRuns: Bool)
    case dayBegan
    case ranToday(ZoneID, Nanoseconds)
    case zone(ZoneID, ZoneSettings?)
    case emergencyStop
    /// Leave an emergency stop or a fault.
    case reset
    /// Nothing but an answer.
    case query
  }
  /// The client's side's own, for the answer.
  public var number: UInt64
  /// When the request was made, by `MonotonicClock` or the simulation's clock.
  public var issued: TickInstant
  public var order: Order

  public init(number: UInt64, issued: TickInstant, _ order: Order) {
    self.number = number
    self.issued = issued
    self.order = order
  }

  /// How long what opens a valve, and a reset, may wait for the loop; the rest is obeyed whenever it comes. Shorter than
  /// anybody waits for the answer (1 s): what has been given up does not open a valve any more.
  public static var patience: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(800) }
  }

  /// What the machine must hear of it at `now`, or `nil` if there is nothing.
  @_noLocks @_noAllocation
  func event(at now: TickInstant) -> IrrigationEvent? {
    let isStale = Mechanism.staleness.acts && Self.patience < now - issued
    switch order {
    case .run(let run, let placement): return isStale ? .stale : .run(run, placement)
    case .extend(let zone, let seconds): return isStale ? .stale : .extend(zone, seconds: seconds)
    case .off(let zone, let dropsQueued): return .off(zone, dropsQueued: dropsQueued)
    case .cancel(let run): return .cancel(run: run)
    case .allOff: return .allOff
    case .skip: return isStale ? .stale : .skip
    case .clearQueue: return .clearQueue
    case .pause(let seconds): return .pause(seconds: seconds)
    case .resume: return isStale ? .stale : .resume
    case .rain(let isActive, let endsRuns): return .rain(isActive: isActive, endsRuns: endsRuns)
    case .dayBegan: return .dayBegan
    case .ranToday(let zone, let time): return .ranToday(zone, time)
    case .zone(let zone, let settings): return .zone(zone, settings)
    case .emergencyStop: return .emergencyStop
    case .reset: return isStale ? .stale : .reset
    case .query: return nil
    }
  }
}

/// What became of a `SprinklerRequest`: the loop has taken it, and the lines have been told what follows from it.
public struct SprinklerAnswer: Sendable, Hashable, BitwiseCopyable {
  /// The request's.
  public let number: UInt64
  public let verdict: IrrigationVerdict
  /// Of a run or an extension: when its valve closes, or `nil` if it is not open yet.
  public let until: TickInstant?
  /// The tick that took it.
  public let at: TickInstant

  @_noLocks @_noAllocation
  init(number: UInt64, _ verdict: IrrigationVerdict, until: TickInstant?, at: TickInstant) {
    self.number = number
    self.verdict = verdict
    self.until = until
    self.at = at
  }
}
