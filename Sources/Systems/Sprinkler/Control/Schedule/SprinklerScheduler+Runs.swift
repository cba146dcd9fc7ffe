import Tactus
import WallTime

extension SprinklerScheduler {
  /// A run that is in the queue from now on; its order is the caller's to give.
  mutating func makeRun(
    _ zone: ZoneID, _ seconds: Int, program: Int?, isScheduled: Bool, soak: Int = 0, ignoresRain: Bool,
    _ request: Request
  ) -> ZoneRun {
    let id = takeRunNumber()
    var run = PendingRun(
      run: id, zone: zone, program: program, isScheduled: isScheduled, askedSeconds: seconds, soakSeconds: soak,
      ignoresRain: ignoresRain, queued: request.wall, caller: request.caller)
    run.boot = boot
    change(.pending(run))
    effects.runs.append(id)
    return ZoneRun(run, resumes: false)
  }

  private mutating func takeRunNumber() -> UInt64 {
    defer { records.nextRun += 1 }
    return records.nextRun
  }

  // MARK: from the machine

  mutating func opened(_ run: UInt64, _ wall: WallInstant) {
    guard var pending = pending(run), pending.opened == nil || pending.openSince == nil else { return }
    pending.opened = pending.opened ?? wall
    pending.boot = boot
    pending.openSince = bootSeconds
    change(.pending(pending))
  }

  mutating func note(_ progress: [RunProgress]) {
    for item in progress {
      guard var pending = pending(item.run), pending.opened != nil,
        item.ranSeconds > pending.ranSeconds || item.isOpen != (pending.openSince != nil)
      else { continue }
      pending.ranSeconds = max(pending.ranSeconds, item.ranSeconds)
      pending.boot = boot
      pending.openSince = item.isOpen ? bootSeconds - item.ageSeconds : nil
      change(.pending(pending))
    }
  }

  mutating func ended(_ run: UInt64, ran: Double, _ outcome: RunOutcome, _ wall: WallInstant) {
    guard let pending = pending(run) else { return }
    if outcome == .shutdown, settings.afterPowerCut == .resume {
      keep(pending, ran: ran, wall)
      return
    }
    change(.pendingRemoved(run: run))
    log(pending, ran: ran, outcome)
    count(pending, ran: ran, wall)
  }

  /// The program ends in an orderly way: what is left stays in the records, in case the machine goes down with it.
  private mutating func keep(_ run: PendingRun, ran: Double, _ wall: WallInstant) {
    change(.pendingRemoved(run: run.run))
    var left = run
    // The machine ends what is open first: what waits comes behind the rest of it.
    if ran > 0 {
      log(run, ran: ran, .shutdown)
      count(run, ran: ran, wall)
      guard let rest = rest(of: run, ran: ran) else { return }
      left = rest
    }
    left.boot = boot
    left.leftBy = .shutdown
    change(.pending(left))
  }

  func pending(_ run: UInt64) -> PendingRun? { records.pending.first { $0.run == run } }

  /// What a zone has run today grows; of a run that began yesterday, only the part since midnight.
  private mutating func count(_ run: PendingRun, ran: Double, _ wall: WallInstant) {
    guard ran > 0 else { return }
    var share = ran
    if let opened = run.opened, settings.zone.local(opened).date != today {
      share = min(ran, max(0, Double(wall - settings.zone.instant(of: today, second: 0))))
    }
    let before = records.day == today ? records.ranToday[run.zone] ?? 0 : 0
    change(.ran(run.zone, seconds: before + share, day: today))
  }

  // MARK: the log

  mutating func log(_ run: PendingRun, ran: Double, _ outcome: RunOutcome) {
    change(
      .log(
        WateringRecord(
          run: run.run, zone: run.zone, zoneName: name(of: run.zone), program: run.program,
          programName: run.program.flatMap { id in records.programs.first { $0.id == id }?.name },
          isScheduled: run.isScheduled, start: run.opened ?? run.queued, askedSeconds: run.askedSeconds,
          ranSeconds: ran, outcome: outcome, caller: run.caller)))
  }

  /// A run that was never made has its line, too.
  mutating func log(
    skipped run: WateringPlan.Run, _ why: RunOutcome, _ program: Program, due: WallInstant, isScheduled: Bool,
    caller: String?
  ) {
    change(
      .log(
        WateringRecord(
          run: takeRunNumber(), zone: run.zone, zoneName: name(of: run.zone), program: program.id,
          programName: program.name, isScheduled: isScheduled, start: due, askedSeconds: run.seconds, ranSeconds: 0,
          outcome: why, caller: caller)))
  }

  func name(of zone: ZoneID) -> String { records.zones.first { $0.id == zone }?.name ?? "zone \(zone)" }

  // MARK: the start of the process

  mutating func start(_ wall: WallInstant) {
    keys = Set(records.startKeys)
    // No new day begins by a clock that may be wrong: until it is confirmed what ran on the last one counts.
    setToday(reading.isSynchronised ? settings.zone.local(wall).date : records.day ?? settings.zone.local(wall).date)
    if let day = records.day, day < today { dayBefore = (day, records.ranToday) }
    // A clock that is behind what was seen may be wrong; it is looked at once it is believed.
    cursor = records.seen ?? wall
    isFirst = records.seen == nil
    if isFirst { change(.seen(cursor)) }
    findUsableZones()
    planAll(after: cursor)
    // Before the machine knows of any.
    if records.rainDelay.flatMap({ $0.left(at: reading) }).map({ $0 <= 0 }) ?? false {
      change(.rainDelay(nil))
      effects.notices.append(.rainDelayOver)
    }
    let runs = restorePending(wall)
    // The machine knows nothing yet: zones first, then what they have run, then rain, and only then what runs.
    for zone in records.zones { effects.orders.append(.zone(zone.id, zoneSettings(zone))) }
    if records.day == today {
      for (zone, seconds) in records.ranToday.sorted(by: { $0.key < $1.key }) {
        effects.orders.append(.ranToday(zone, .seconds(seconds)))
      }
    }
    if records.rainDelay != nil { effects.orders.append(rainOrder) }
    effects.orders += runs.map { .run($0, .append) }
  }

  /// Decides about the runs that the last process left, open ones first. Returns those that run again.
  private mutating func restorePending(_ wall: WallInstant) -> [ZoneRun] {
    let left = records.pending
    let outage = records.seen.map { wall - $0 } ?? 0
    let mayResume = settings.afterPowerCut == .resume && outage <= Int64(settings.longestOutageSeconds) && !isRecovered
    let isRaining = records.rainDelay != nil
    var runs: [ZoneRun] = []
    if isRecovered, !left.isEmpty { effects.notices.append(.queueNotResumed(runs: left.map(\.run))) }
    for run in left { change(.pendingRemoved(run: run.run)) }
    for run in left.filter({ $0.opened != nil }) + left.filter({ $0.opened == nil }) {
      let end = howEnded(run)
      let isAllowed = mayResume && end == .powerCut && usableZones[run.zone] != nil
      var again: PendingRun? = run
      if run.opened != nil {
        let ran = charge(run, end)
        log(run, ran: ran, end)
        count(run, ran: ran, wall)
        again = rest(of: run, ran: ran)
        effects.notices.append(
          .interrupted(
            run: run.run, zone: run.zone, by: end, ranSeconds: ran, leftSeconds: again?.askedSeconds ?? 0,
            isResumed: isAllowed && again != nil))
      } else if !isAllowed {
        log(run, ran: 0, usableZones[run.zone] == nil ? .disabled : run.leftBy ?? end)
      }
      guard isAllowed, var again else { continue }
      again.boot = boot
      again.leftBy = nil
      if isRaining, again.isScheduled, !again.ignoresRain {
        log(again, ran: 0, .rainDelay)
      } else {
        change(.pending(again))
        runs.append(ZoneRun(again, resumes: run.opened != nil))
      }
    }
    return runs
  }

  /// How the process ended that left the run: another boot is a power cut, the same one is not, and neither is one that is not known.
  private func howEnded(_ run: PendingRun) -> RunOutcome {
    if let boot, let noted = run.boot, noted != boot { return .powerCut }
    return run.leftBy ?? .crash
  }

  /// What a run that had begun has run at most, s.
  ///
  /// Within one boot that is the time since its valve opened or was noted last. A power cut stops the water at an instant that nobody
  /// knows: before the next note, which was never written.
  private func charge(_ run: PendingRun, _ end: RunOutcome) -> Double {
    let since: Double
    switch (end, run.openSince) {
    case (.crash, let open?) where run.boot == boot:
      // Nothing flowed after the guard had closed the valve. One that was opened after that is not known to have been closed.
      let closed = valvesClosed.first { $0 >= open }.map { min($0, bootSeconds) } ?? bootSeconds
      since = max(0, closed - open)
    case (_, nil) where run.boot != nil: since = 0
    default: since = Double(settings.noteSeconds + 2)
    }
    return max(run.ranSeconds, min(Double(run.askedSeconds), run.ranSeconds + since))
  }

  /// What is left of a run, with a number of its own, or `nil` if there is nothing.
  private mutating func rest(of run: PendingRun, ran: Double) -> PendingRun? {
    // Rounded so that any number of interruptions adds nothing.
    let left = run.askedSeconds - Int(saturating: ran.rounded(.up))
    guard left > 0 else { return nil }
    var rest = run
    rest.run = takeRunNumber()
    rest.askedSeconds = left
    rest.soakSeconds = 0
    rest.opened = nil
    rest.ranSeconds = 0
    rest.openSince = nil
    return rest
  }
}

extension ZoneRun {
  init(_ run: PendingRun, resumes: Bool) {
    let source: Source =
      switch run.program.map({ Int32(clamping: $0) }) {
      case let program where resumes: .resumed(program: program ?? 0)
      case let program? where run.isScheduled: .program(id: program)
      case let program?: .once(program: program)
      case nil: .manual
      }
    self.init(
      id: run.run, zone: run.zone, seconds: UInt32(clamping: run.askedSeconds), source: source,
      soakSeconds: UInt32(clamping: run.soakSeconds), ignoresRain: run.ignoresRain)
  }
}
