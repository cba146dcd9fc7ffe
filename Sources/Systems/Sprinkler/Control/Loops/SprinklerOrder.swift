import Tactus

/// A request of the scheduler, or of another client inside the daemon, to the valves' loop.
public enum SprinklerOrder: Sendable, Hashable, BitwiseCopyable {
  case run(ZoneRun, RunPlacement)
  /// Lengthens the zone's open or paused run by `seconds`, 1…86,400 s.
  case extend(ZoneID, seconds: UInt32)
  /// Ends the zone's open or paused run and, with `dropsQueued`, its queued runs. Accepted even if there is no run to end.
  case off(ZoneID, dropsQueued: Bool)
  /// Ends the run with this number, whether it is open or queued.
  case cancel(run: UInt64)
  /// Ends every run, queued runs included, and turns every line off in the same tick.
  case allOff
  /// Ends the open runs; the next run in the queue follows.
  case skip
  /// Ends the queued runs that have not begun; open runs go on.
  case clearQueue
  /// Turns every line off for `seconds`, 1…86,400 s; the open runs then continue for their remaining time.
  /// A second pause replaces the end of the first.
  case pause(seconds: UInt32)
  case resume
  /// Reports that a rain delay began, changed or ended. Programs' runs that do not ignore rain leave the queue as `rainDelay`, and with `endsRuns`
  /// the open ones end as well.
  case rain(isActive: Bool, endsRuns: Bool)
  /// Reports that the local day began: the zones' daily totals start again from zero.
  case dayBegan
  /// Adds the time that the zone ran today before the daemon started, as the store recorded it.
  case ranToday(ZoneID, Nanoseconds)
  /// Adds or changes a zone, or removes the zone if the settings are `nil`.
  case zone(ZoneID, ZoneSettings?)
  /// Turns everything off, requested from inside the daemon and latched until a reset.
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
