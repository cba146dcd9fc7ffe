import Tactus

/// What the machine keeps for one zone.
struct ZoneSlot: BitwiseCopyable {
  enum Valve: BitwiseCopyable {
    case closed
    /// The master valve leads.
    case leading(AcceptedRun, opensAt: TickInstant)
    case open(AcceptedRun, since: TickInstant)
  }
  var settings: ZoneSettings?
  var valve = Valve.closed
  var closedAt: TickInstant?
  /// Today, runs that are over.
  var ranBefore = Nanoseconds.zero

  @_noLocks @_noAllocation
  init() {}

  var isClosed: Bool {
    @_noLocks @_noAllocation get {
      if case .closed = valve { return true }
      return false
    }
  }

  /// The run that is open or about to be.
  var active: AcceptedRun? {
    @_noLocks @_noAllocation get {
      switch valve {
      case .closed: return nil
      case .leading(let run, _), .open(let run, _): return run
      }
    }
  }

  /// What it has run in the day that began at `day`.
  @_noLocks @_noAllocation
  func ranToday(day: TickInstant, at now: TickInstant) -> Nanoseconds {
    guard case .open(_, let since) = valve else { return ranBefore }
    return ranBefore + (now - later(since, day))
  }

  /// For how long `run` may be open from `start` on, and what its end is then. Not above zero: not at all.
  @_noLocks @_noAllocation
  func allowance(of run: AcceptedRun, from start: TickInstant, day: TickInstant) -> (Nanoseconds, RunOutcome) {
    guard let settings else { return (.zero, .disabled) }
    var allowance = run.left
    var outcome = RunOutcome.completed
    let ofRun = Nanoseconds.seconds(Int64(settings.maximumSeconds)) - run.ran
    if Mechanism.longestRun.acts, ofRun < allowance {
      allowance = ofRun
      outcome = .runLimit
    }
    if Mechanism.dayLimit.acts, let perDay = settings.maximumSecondsPerDay {
      // A day that began while it was open gives it the new day's limit from then on.
      let ofDay = later(start, day) - start + (.seconds(Int64(perDay)) - ranBefore)
      if ofDay < allowance {
        allowance = ofDay
        outcome = .dayLimit
      }
    }
    return (allowance, outcome)
  }

  /// When the open valve closes, and why, or `nil` if it is not open.
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
