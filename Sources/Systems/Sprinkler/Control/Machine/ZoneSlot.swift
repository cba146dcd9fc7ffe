@_spi(FromOutside) import Conversions
import Tactus

/// The machine's state of one zone.
struct ZoneSlot: BitwiseCopyable {
  enum Valve: BitwiseCopyable {
    case closed
    /// The valve waits until the master valve has been open for its lead time.
    case leading(AcceptedRun, opensAt: TickInstant)
    case open(AcceptedRun, since: TickInstant)
  }
  var settings: ZoneSettings?
  var valve = Valve.closed
  var closedAt: TickInstant?
  /// The time that the zone has run today in runs that are over.
  var ranBefore = Nanoseconds.zero

  @_noLocks @_noAllocation
  init() {}

  var isClosed: Bool {
    @_noLocks @_noAllocation get {
      if case .closed = valve { return true }
      return false
    }
  }

  /// The run that is open or about to open, or `nil` if the valve is closed.
  var active: AcceptedRun? {
    @_noLocks @_noAllocation get {
      switch valve {
      case .closed: return nil
      case .leading(let run, _), .open(let run, _): return run
      }
    }
  }

  /// Returns the time that the zone has run in the day that began at `day`.
  @_noLocks @_noAllocation
  func ranToday(day: TickInstant, at now: TickInstant) -> Nanoseconds {
    guard case .open(_, let since) = valve else { return ranBefore }
    return ranBefore + (now - later(since, day))
  }

  /// Returns for how long `run` may be open from `start` on, and the outcome with which it then ends.
  /// The run may not open if the time is zero or negative.
  @_noLocks @_noAllocation
  func allowance(of run: AcceptedRun, from start: TickInstant, day: TickInstant) -> (Nanoseconds, RunOutcome) {
    guard let settings else { return (.zero, .disabled) }
    var allowance = run.left
    var outcome = RunOutcome.completed
    if case .some = run.run.litres { outcome = .timeLimit }
    let ofRun = Nanoseconds.seconds(Int64(settings.maximumSeconds)) - run.ran
    if Mechanism.longestRun.acts, ofRun < allowance {
      allowance = ofRun
      outcome = .runLimit
    }
    if Mechanism.dayLimit.acts, let perDay = settings.maximumSecondsPerDay {
      // If a day began while the valve was open, the new day's limit counts from then on.
      let ofDay = later(start, day) - start + (.seconds(Int64(perDay)) - ranBefore)
      if ofDay < allowance {
        allowance = ofDay
        outcome = .dayLimit
      }
    }
    return (allowance, outcome)
  }

  /// Returns the instant at which the open valve closes and the outcome, or `nil` if the valve is not open.
  @_noLocks @_noAllocation
  func end(day: TickInstant) -> (TickInstant, RunOutcome)? {
    guard case .open(let run, let since) = valve, Mechanism.valveDeadline.acts else { return nil }
    let (time, outcome) = allowance(of: run, from: since, day: day)
    return (since + time, outcome)
  }
}

@_noLocks @_noAllocation
func later(_ one: TickInstant, _ other: TickInstant) -> TickInstant { one < other ? other : one }

extension TickInstant {
  @_noLocks @_noAllocation
  func isReached(at now: TickInstant) -> Bool { !(now < self) }

  @_noLocks @_noAllocation
  func isBefore(_ other: TickInstant?) -> Bool {
    guard let other else { return true }
    return self < other
  }
}
