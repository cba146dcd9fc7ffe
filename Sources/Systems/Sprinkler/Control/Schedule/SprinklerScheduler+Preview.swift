import WallTime

extension SprinklerScheduler {
  /// The next starts of the enabled programs after an instant, at most so many, and the starts by the sun that do not happen
  /// until the last of them.
  ///
  /// The runs' times are an estimate: one zone after another, what waits now first.
  public func preview(after instant: WallInstant, count: Int) -> SprinklerPreview {
    let starts = starts(after: instant, count: count)
    let first = settings.zone.local(instant).date
    let last = starts.last?.key.date ?? first + 7
    let sunless = records.programs.filter(\.isEnabled)
      .flatMap { calendar.sunless($0, from: first, through: last) }
      .sorted { ($0.date, $0.program) < ($1.date, $1.program) }
    return SprinklerPreview(starts: starts, sunless: sunless)
  }

  private func starts(after instant: WallInstant, count: Int) -> [UpcomingStart] {
    var next: [(program: Program, start: ProgramCalendar.Start)] = []
    for program in records.programs where program.isEnabled {
      if let start = nextStart(of: program, after: instant) { next.append((program, start)) }
    }
    // When the valves are free, if one run follows another.
    var free = instant
    for run in records.pending { free = free + Int64(max(0, run.askedSeconds - Int(saturating: run.ranSeconds))) }
    var starts: [UpcomingStart] = []
    var taken: Set<StartKey> = keys
    while starts.count < count {
      let place = next.indices.min {
        (next[$0].start.at, -next[$0].program.priority, $0) < (next[$1].start.at, -next[$1].program.priority, $1)
      }
      guard let place else { break }
      let (program, start) = next[place]
      starts.append(upcoming(start, of: program, free: &free))
      taken.insert(start.key)
      let following = calendar.nextStart(of: program, after: start.at - 1, excluding: { taken.contains($0) })
      if let following { next[place].start = following } else { next.remove(at: place) }
    }
    return starts
  }

  /// As the calendar says. What is planned already is at hand, which matters with hundreds of programs: every change asks
  /// for the next start.
  private func nextStart(of program: Program, after instant: WallInstant) -> ProgramCalendar.Start? {
    if let planned = upcoming[program.id], planned.at > instant, cursor <= instant { return planned }
    return calendar.nextStart(of: program, after: instant, excluding: { keys.contains($0) })
  }

  /// The next start that will open a zone, as far as is known now: a rain delay's are passed over, or `nil` if there is none.
  public func nextStart(after instant: WallInstant) -> UpcomingStart? {
    // The second look is for a rain delay that keeps all of the first away.
    for from in [instant, max(instant, (records.rainDelay?.until ?? instant) - 1)] {
      let starts = starts(after: from, count: 16)
      if let start = starts.first(where: { $0.runs.contains { $0.skipped == nil } }) { return start }
    }
    return nil
  }

  /// By program, when each enabled one next opens a zone, as far as is known now: starts in a rain delay that keeps its zones closed are
  /// passed over, and one that no day or no zone is left to has none.
  public func nextRuns(after instant: WallInstant) -> [Int: WallInstant] {
    var next: [Int: WallInstant] = [:]
    let afterRain = max(instant, (records.rainDelay?.until ?? instant) - 1)
    for program in records.programs where program.isEnabled {
      for from in [instant, afterRain] {
        guard let start = nextStart(of: program, after: from) else { continue }
        var free = start.at
        guard upcoming(start, of: program, free: &free).runs.contains(where: { $0.skipped == nil }) else { continue }
        next[program.id] = start.at
        break
      }
    }
    return next
  }

  private func upcoming(
    _ start: ProgramCalendar.Start, of program: Program, free: inout WallInstant
  ) -> UpcomingStart {
    let percent = records.levels.percent(month: start.key.date.month)
    var plan = WateringPlan(program, percent: percent, zones: usableZones)
    let isInRain = records.rainDelay.map { $0.until > start.at } ?? false
    if isInRain { plan.skipInRain() }
    var closed: [ZoneID: WallInstant] = [:]
    var runs: [UpcomingRun] = []
    free = max(free, start.at)
    for run in plan.runs {
      guard run.skipped == nil else {
        runs.append(UpcomingRun(zone: run.zone, start: free, seconds: run.seconds, skipped: run.skipped))
        continue
      }
      if run.soakSeconds > 0, let last = closed[run.zone] { free = max(free, last + Int64(run.soakSeconds)) }
      runs.append(UpcomingRun(zone: run.zone, start: free, seconds: run.seconds, skipped: nil))
      free = free + Int64(run.seconds)
      closed[run.zone] = free
    }
    return UpcomingStart(
      program: program.id, programName: program.name, key: start.key, at: start.at,
      offsetSeconds: settings.zone.offsetSeconds(at: start.at), runs: runs, isInRainDelay: isInRain)
  }
}
