import Tactus

/// A request of the scheduler, or of another client inside the daemon, to the valves' loop.
public enum SprinklerOrder: Sendable, Hashable, BitwiseCopyable {
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
  /// Leaves an emergency stop or a fault.
  case reset
  /// Does nothing but cause an answer.
  case query

  /// Whether the loop carries the order out however late it arrives, which is so for orders that neither open a valve nor allow one to open.
  public var mayBeLate: Bool {
    switch self {
    case .run, .extend, .skip, .resume, .reset: false
    default: true
    }
  }

  /// Returns the machine's event for this order, or `nil` for a query.
  @_noLocks @_noAllocation
  func event() -> IrrigationEvent? {
    switch self {
    case .run(let run, let placement): return .run(run, placement)
    case .extend(let zone, let seconds): return .extend(zone, seconds: seconds)
    case .off(let zone, let dropsQueued): return .off(zone, dropsQueued: dropsQueued)
    case .cancel(let run): return .cancel(run: run)
    case .allOff: return .allOff
    case .skip: return .skip
    case .clearQueue: return .clearQueue
    case .pause(let seconds): return .pause(seconds: seconds)
    case .resume: return .resume
    case .rain(let isActive, let endsRuns): return .rain(isActive: isActive, endsRuns: endsRuns)
    case .dayBegan: return .dayBegan
    case .ranToday(let zone, let time): return .ranToday(zone, time)
    case .zone(let zone, let settings): return .zone(zone, settings)
    case .emergencyStop: return .emergencyStop
    case .reset: return .reset
    case .query: return nil
    }
  }
}

/// The mailbox through which the daemon and the valves' loop exchange requests, answers, notices, snapshots and flow limits.
public typealias SprinklerMailbox = LoopMailbox<
  SprinklerOrder, IrrigationRefusal, IrrigationNotice, SprinklerSnapshot, FlowLimits
>

/// An order that is sent to the valves' loop, with a number and the instant of its issue.
public typealias SprinklerRequest = Tactus.Request<SprinklerOrder>

extension SprinklerRequest {
  /// Creates a request issued at `issued`. Orders that may be late never become stale.
  public init(number: UInt64, issued: TickInstant, _ order: SprinklerOrder) {
    self.init(number: number, issued: issued, makesSafe: order.mayBeLate, order: order)
  }
}
