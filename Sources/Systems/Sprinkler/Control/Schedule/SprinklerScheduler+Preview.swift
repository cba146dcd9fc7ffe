@_spi(FromOutside) import Conversions
import Tactus
import WallTime

extension SprinklerScheduler {
  /// The number of starts of all programs among which those of a single one are searched.
  private static var mostSearched: Int { 1_000 }

  /// Returns the next starts of the enabled programs after an instant, at most `count`, and the starts by the sun that do not happen
  /// before the last of them.
  ///
  /// The times of the runs are estimates: one zone after another, queued runs first.
  /// - Parameter program: the id of the program whose starts are returned, or `nil` for those of all. The other programs' runs are taken into
  ///   account in any case. Of a single program, only the starts among the next 1,000 of all programs are found.
  public func preview(after instant: WallInstant, count: Int, of program: Int? = nil) -> SprinklerPreview {
    let found = starts(after: instant, count: count, of: program)
    let first = settings.zone.local(instant).date
    let last = found.starts.last?.key.date ?? first + 7
    let sunless = records.programs.filter { $0.isEnabled && (program == nil || $0.id == program) }
      .flatMap { calendar.sunless($0, from: first, through: last) }
      .sorted { ($0.date, $0.program) < ($1.date, $1.program) }
    return SprinklerPreview(starts: found.starts, sunless: sunless, isCut: found.isCut)
  }

  /// Returns the next starts as they would be with a draft of a program. The scheduler itself does not change, so nothing is stored and nothing is
  /// ordered.
  ///
  /// - Parameters:
  ///   - draft: the draft. It takes the place of the program with its id, or is a new one if no program has that id.
  ///   - now: the wall clock and the boot's clock, as for `step`.
  ///   - count: the greatest number of starts.
  ///   - isAlone: whether only the starts of the draft are returned.
  /// - Throws: The refusal with which the command to add the draft, or to replace the program by it, would be answered.
  public func preview(
    draft: Program, at now: WallReading, count: Int, isAlone: Bool
  ) throws(SprinklerRefusal) -> DraftPreview {
    var copy = self
    if !copy.isStarted { _ = copy.step(.started, at: now) }
    let isNew = !records.programs.contains { $0.id == draft.id }
    let effects = copy.step(.command(isNew ? .addProgram(draft) : .replaceProgram(draft), caller: nil), at: now)
    if let refusal = effects.refusal { throw refusal }
    let program = try copy.program(effects.programs.first ?? draft.id)
    let wall = WallInstant(now)
    return DraftPreview(
      program: program, next: copy.nextRun(of: program, after: wall),
      preview: copy.preview(after: wall, count: count, of: isAlone ? program.id : nil))
  }

  private func starts(
    after instant: WallInstant, count: Int, of only: Int? = nil
  ) -> (starts: [UpcomingStart], isCut: Bool) {
    var next: [(program: Program, start: ProgramCalendar.Start)] = []
    for program in records.programs where program.isEnabled {
      if let start = nextStart(of: program, after: instant) { next.append((program, start)) }
    }
    // The instant at which the valves are free if the pending runs follow each other.
    var free = instant
    for run in records.pending { free = free + Int64(max(0, run.askedSeconds - Int(saturating: run.ranSeconds))) }
    var starts: [UpcomingStart] = []
    var planned: [ZoneID: Double] = [:]
    var taken: Set<StartKey> = keys
    var searched = 0
    while starts.count < count, searched < max(count, Self.mostSearched) {
      let place = next.indices.min {
        (next[$0].start.at, -next[$0].program.priority, $0) < (next[$1].start.at, -next[$1].program.priority, $1)
      }
      guard let place else { break }
      let (program, start) = next[place]
      let found = upcoming(start, of: program, free: &free, planned: &planned)
      if only == nil || only == program.id { starts.append(found) }
      searched += 1
      taken.insert(start.key)
      let following = calendar.nextStart(of: program, after: start.at - 1, excluding: { taken.contains($0) })
      if let following { next[place].start = following } else { next.remove(at: place) }
    }
    return (starts, next.contains { only == nil || only == $0.program.id })
  }

  /// Returns the next start of the program by the calendar. A start that is planned already is reused, which matters with hundreds of programs,
  /// since every change asks for the next start.
  private func nextStart(of program: Program, after instant: WallInstant) -> ProgramCalendar.Start? {
    if let planned = upcoming[program.id], planned.at > instant, cursor <= instant { return planned }
    return calendar.nextStart(of: program, after: instant, excluding: { keys.contains($0) })
  }

  /// Returns the next start that is expected to open a zone, or `nil` if no start is expected to. Starts suppressed by a rain delay are skipped.
  public func nextStart(after instant: WallInstant) -> UpcomingStart? {
    // The second search begins at the end of the rain delay, which may suppress all starts of the first.
    for from in [instant, max(instant, (records.rainDelay?.until ?? instant) - 1)] {
      let found = starts(after: from, count: 16).starts
      if let start = found.first(where: { $0.runs.contains { $0.skipped == nil } }) { return start }
    }
    return nil
  }

  /// Returns, by program, when each enabled program is next expected to open a zone. Starts suppressed by a rain delay are skipped; programs
  /// without a further start or a usable zone are left out.
  public func nextRuns(after instant: WallInstant) -> [Int: WallInstant] {
    var next: [Int: WallInstant] = [:]
    for program in records.programs { next[program.id] = nextRun(of: program, after: instant) }
    return next
  }

  /// Returns when the program is next expected to open a zone, as in `nextRuns`, or `nil` if it is not.
  private func nextRun(of program: Program, after instant: WallInstant) -> WallInstant? {
    guard program.isEnabled else { return nil }
    let afterRain = max(instant, (records.rainDelay?.until ?? instant) - 1)
    // A deficit that is too small for watering now may have grown by a later start, so the next days are searched, too.
    let later = program.adjustment == nil ? [] : (1...Self.validDays).map { instant + Int64($0) * 86_400 }
    for from in [instant, afterRain] + later {
      guard let start = nextStart(of: program, after: from) else { continue }
      var (free, planned) = (start.at, [ZoneID: Double]())
      if upcoming(start, of: program, free: &free, planned: &planned).runs.contains(where: { $0.skipped == nil }) {
        return start.at
      }
    }
    return nil
  }

  private func upcoming(
    _ start: ProgramCalendar.Start, of program: Program, free: inout WallInstant, planned: inout [ZoneID: Double]
  ) -> UpcomingStart {
    let percent = records.levels.percent(month: start.key.date.month)
    let deficits = deficitFindings(program, on: start.key.date, planned: planned)
    var plan = WateringPlan(
      program, percent: percent, zones: usableZones, deficits, mostPercent: settings.deficitPercent,
      hasFlow: settings.pulsesPerLitre != nil)
    let isInRain = records.rainDelay.map { $0.until > start.at } ?? false
    if isInRain { plan.skipInRain(records.rainDelay?.why) }
    plan.follow(soilFindings(plan, after: Double(max(0, start.at - WallInstant(reading)))))
    var closed: [ZoneID: WallInstant] = [:]
    var runs: [UpcomingRun] = []
    free = max(free, start.at)
    for run in plan.runs {
      guard run.skipped == nil else {
        runs.append(UpcomingRun(run, at: free))
        continue
      }
      if run.soakSeconds > 0, let last = closed[run.zone] { free = max(free, last + Int64(run.soakSeconds)) }
      runs.append(UpcomingRun(run, at: free))
      free = free + Int64(run.seconds)
      closed[run.zone] = free
      if let rule = settings.deficits[run.zone] {
        planned[run.zone, default: 0] += rule.millimetres(seconds: Double(run.seconds))
      }
    }
    return UpcomingStart(
      program: program.id, programName: program.name, key: start.key, at: start.at,
      offsetSeconds: settings.zone.offsetSeconds(at: start.at), runs: runs, isInRainDelay: isInRain)
  }
}

extension UpcomingRun {
  fileprivate init(_ run: WateringPlan.Run, at start: WallInstant) {
    let cut = run.skipped == nil ? run.cutTo : nil
    let words = cut.map { "at most \(SprinklerScheduler.number(Double($0) / 60)) min, the zone's longest run" }
    let why = [run.why, words].compactMap(\.self)
    self.init(
      zone: run.zone, start: start, seconds: run.seconds, litres: run.litres, skipped: run.skipped,
      why: why.isEmpty ? nil : why.joined(separator: "; "))
  }
}
