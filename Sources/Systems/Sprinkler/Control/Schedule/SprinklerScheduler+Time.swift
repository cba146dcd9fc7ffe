@_spi(FromOutside) import Conversions
import Tactus
import WallTime

extension SprinklerScheduler {
  /// The number of days for which start keys are kept: setting the clock back by less never starts anything twice.
  static var keptDays: Int { 14 }
  /// The length of the past in which missed starts are searched, in seconds.
  static var longestAbsence: Int64 { 7 * 86_400 }

  /// The least time by which the clock must be behind the last handled instant to count as set back, in seconds.
  private static var backward: Int64 { 2 }

  mutating func passTime(to wall: WallInstant) {
    guard reading.isConfirmed else { return }
    let held = heldSince.map { Int64(saturating: (bootSeconds - $0).rounded(.up)) } ?? 0
    heldSince = nil
    isFirst = false
    if isRecovered, recoveredUntil == nil { recoveredUntil = wall }
    let back = min(setBackTo ?? wall, wall)
    setBackTo = nil
    if cursor - back >= Self.backward { takeBack(from: back, at: wall) }
    beginDay(of: wall)
    let delay = rainAtStart ?? records.rainDelay
    if wall - cursor > Self.longestAbsence {
      effects.notices.append(.longAbsence(from: cursor, to: wall))
      cursor = wall - Self.longestAbsence
      planAll(after: cursor)
    }
    while let (program, start) = nextDue(by: wall) {
      deal(with: start, of: program, delay: delay, at: wall, held: held)
      plan(program, after: start.at - 1)
    }
    cursor = max(cursor, wall)
  }

  /// Begins a new local day if the date has changed, which resets the daily totals.
  private mutating func beginDay(of wall: WallInstant) {
    let date = settings.zone.local(wall).date
    guard date != today else { return }
    let isNew = date > today
    setToday(date)
    guard isNew else { return returnTo(date) }
    if let day = records.day, day < date { dayBefore = (day, records.ranToday) }
    effects.orders.append(.dayBegan)
    let oldest = date + -Self.keptDays
    // A clock set years ahead by mistake would otherwise delete every key.
    if reading.mayDelete, records.startKeys.contains(where: { $0.date < oldest }) {
      change(.startKeysForgotten(before: oldest))
      keys = keys.filter { $0.date >= oldest }
    }
    // A program whose next start was more than ten years ahead is planned again every month.
    if date.day == 1 { planAll(after: cursor) }
  }

  /// Returns to an earlier local day. The totals of that day and of the day left are added up, so that a daily limit cannot be used twice.
  private mutating func returnTo(_ date: LocalDate) {
    var ran = records.day == date ? [:] : records.ranToday
    if let before = dayBefore, before.day == date {
      for (zone, seconds) in before.ran.sorted(by: { $0.key < $1.key }) {
        ran[zone, default: 0] += seconds
        effects.orders.append(.ranToday(zone, .seconds(seconds)))
      }
    }
    dayBefore = nil
    for (zone, seconds) in ran.sorted(by: { $0.key < $1.key }) { change(.ran(zone, seconds: seconds, day: date)) }
  }

  mutating func setToday(_ date: LocalDate) {
    today = date
    nextMidnight = settings.zone.instant(of: date + 1, second: 0)
  }

  // MARK: next starts

  mutating func planAll(after instant: WallInstant) {
    upcoming = [:]
    for program in records.programs { plan(program, after: instant) }
  }

  mutating func plan(_ program: Program, after instant: WallInstant) {
    let keys = keys
    upcoming[program.id] =
      program.isEnabled
      ? calendar.nextStart(of: program, after: instant, excluding: { keys.contains($0) }) : nil
  }

  /// Returns the next start that is due by `wall`, or `nil` if none is: the earliest, then the one with the higher priority, then the first program.
  private func nextDue(by wall: WallInstant) -> (Program, ProgramCalendar.Start)? {
    var best: (program: Program, start: ProgramCalendar.Start)?
    for program in records.programs {
      guard let start = upcoming[program.id], start.at <= wall else { continue }
      if let best, (best.start.at, -best.program.priority) <= (start.at, -program.priority) { continue }
      best = (program, start)
    }
    return best
  }

  private mutating func deal(
    with start: ProgramCalendar.Start, of program: Program, delay: RainDelay?, at wall: WallInstant, held: Int64
  ) {
    change(.started(start.key))
    keys.insert(start.key)
    let percent = records.levels.percent(month: start.key.date.month)
    let deficits = deficitFindings(program, on: settings.zone.local(start.at).date)
    var plan = WateringPlan(
      program, percent: percent, zones: usableZones, deficits, mostPercent: settings.deficitPercent,
      hasFlow: settings.pulsesPerLitre != nil)
    // Steps come every second, so a delay of two seconds is never late; nor is the time for which a start waited for the clock to be confirmed.
    let isLate = wall - start.at > max(2, Int64(settings.catchUpSeconds), held)
    if isLate || recoveredUntil.map({ start.at <= $0 }) ?? false {
      plan.skipAll(.missed)
    } else if isBusy(program, with: plan.runs.count) {
      plan.skipAll(.overlap)
    } else {
      if let delay, delay.until > start.at { plan.skipInRain(delay.why) }
      for (zone, finding) in deficits.sorted(by: { $0.key < $1.key }) {
        effects.notices.append(.deficit(id: program.id, name: program.name, zone: zone, why: finding.why))
      }
      let findings = soilFindings(plan, after: 0)
      plan.follow(findings)
      for (zone, finding) in findings.sorted(by: { $0.key < $1.key }) {
        effects.notices.append(.soil(id: program.id, name: program.name, zone: zone, why: finding.why))
      }
    }
    let reasons = plan.runs.map(\.skipped)
    if !reasons.contains(nil), let first = reasons.first ?? nil {
      change(.suppressed(SuppressedStart(start.key, due: start.at, why: reasons.contains(.missed) ? .missed : first)))
    }
    queue(plan, of: program, due: start.at, at: wall)
  }

  /// Returns whether two earlier starts of the program are still pending, or the queue lacks room for `count` more runs.
  private func isBusy(_ program: Program, with count: Int) -> Bool {
    if records.pending.count + count > settings.queueCapacity { return true }
    let starts = records.pending.lazy.filter { $0.program == program.id && $0.isScheduled }.map(\.queued)
    return Set(starts).count >= 2
  }

  private mutating func queue(_ plan: WateringPlan, of program: Program, due: WallInstant, at wall: WallInstant) {
    var skipped: [RunOutcome: Int] = [:]
    var count = 0
    for run in plan.runs {
      if let why = run.skipped {
        log(skipped: run, why, program, due: due, isScheduled: true, caller: nil)
        skipped[why, default: 0] += 1
        continue
      }
      let made = makeRun(
        run.zone, run.seconds, litres: run.litres, program: program.id, isScheduled: true, soak: run.soakSeconds,
        ignoresRain: run.ignoresRain, why: run.why, Request(caller: nil, wall: wall))
      effects.orders.append(.run(made, .append))
      count += 1
    }
    if count > 0 {
      effects.notices.append(.programStarted(id: program.id, name: program.name, due: due, runs: count))
    }
    for (why, runs) in skipped.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      effects.notices.append(
        .programSkipped(id: program.id, name: program.name, due: due, why: why, runs: runs))
    }
  }
}
