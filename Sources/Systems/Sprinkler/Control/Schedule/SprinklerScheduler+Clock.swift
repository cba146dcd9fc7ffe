import Tactus
import WallTime

// What a clock that was set changes.
extension SprinklerScheduler {
  /// What is open or waits is to be logged at the time that the clock shows now.
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

  /// The clock was set back before what was dealt with. What made a run keeps its key and does not come again. What made none is due again: at
  /// its time, if that is still to come, or now, if it was missed and is not late by this clock.
  ///
  /// - Parameter back: what is due after it is to be dealt with.
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
