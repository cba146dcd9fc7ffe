@_spi(FromOutside) import Conversions
import Tactus
import WallTime

// The consequences of setting the wall clock.
extension SprinklerScheduler {
  /// Shifts the times of pending runs by the jump of the wall clock, so that they are logged by the clock as it is now.
  mutating func follow(_ jump: Nanoseconds) {
    let seconds = (Double(jump.count) / 1e9).rounded()
    let shift = Int64(saturating: seconds)
    effects.notices.append(.clockStepped(seconds: shift))
    setBackTo = setBackTo.map { $0 + shift }
    if shift < 0 { setBackTo = min(setBackTo ?? WallInstant(reading), WallInstant(reading)) }
    if isFirst {
      // What was before the first start of all is nothing that could have been missed.
      cursor = cursor + shift
      planAll(after: cursor)
    }
    for var run in records.pending {
      run.queued = run.queued + shift
      run.opened = run.opened.map { $0 + shift }
      change(.pending(run))
    }
  }

  mutating func tellBelief() {
    toldBelief = reading.word
    effects.notices.append(.clockBelieved(toldBelief))
  }

  /// Deals with a clock that was set back before starts that were dealt with. Starts that made a run keep their keys and do not happen again.
  /// Starts that made no run are due again: at their time if that is in the future by this clock, or now if they were missed and are not late.
  ///
  /// - Parameter back: the instant after which starts are to be dealt with again.
  mutating func takeBack(from back: WallInstant, at wall: WallInstant) {
    let inTime = wall - Int64(settings.catchUpSeconds)
    let wrong = records.suppressed.filter { $0.due > wall || $0.why == .missed && $0.due > inTime }
    for start in wrong {
      change(.takenBack(start))
      keys.remove(start.key)
      guard let program = records.programs.first(where: { $0.id == start.key.program }) else { continue }
      effects.notices.append(
        .startTakenBack(id: program.id, name: program.name, due: start.due, was: start.why))
    }
    recoveredUntil = recoveredUntil.map { min($0, wall) }
    cursor = back
    planAll(after: cursor)
    // Those just past: none that never was due, such as those of a program that is newer.
    for start in wrong where start.due <= back {
      guard let program = records.programs.first(where: { $0.id == start.key.program }), program.isEnabled,
        calendar.starts(program, on: start.key.date), program.starts.contains(start.key.start),
        upcoming[program.id].map({ start.due < $0.at }) ?? true
      else { continue }
      upcoming[program.id] = ProgramCalendar.Start(key: start.key, at: start.due)
    }
  }
}
