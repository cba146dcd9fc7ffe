@_spi(FromOutside) import Conversions
import Tactus
import WallTime

extension SprinklerScheduler {
  /// Makes a run, adds it to the queue in the records, and returns the run. The caller must issue the order.
  mutating func makeRun(
    _ zone: ZoneID, _ seconds: Int, litres: Double? = nil, program: Int?, isScheduled: Bool, soak: Int = 0,
    ignoresRain: Bool, why: String? = nil, _ request: Request
  ) -> ZoneRun {
    let id = takeRunNumber()
    var run = PendingRun(
      run: id, zone: zone, program: program, isScheduled: isScheduled, askedSeconds: seconds, soakSeconds: soak,
      ignoresRain: ignoresRain, queued: request.wall, caller: request.caller)
    run.boot = boot
    run.why = why
    run.litres = litres
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
    noteOpen(run)
  }

  mutating func note(_ progress: [RunProgress]) {
    for item in progress {
      guard var pending = pending(item.run), pending.opened != nil,
        item.ranSeconds > pending.ranSeconds || item.isOpen != (pending.openSince != nil)
      else { continue }
      pending.ranSeconds = max(pending.ranSeconds, item.ranSeconds)
      if let litres = litres(item.pulses) { pending.flowedLitres = max(pending.flowedLitres ?? 0, litres) }
      pending.boot = boot
      pending.openSince = item.isOpen ? bootSeconds - item.ageSeconds : nil
      change(.pending(pending))
    }
  }

  /// Returns the amount of water, in litres, that a number of pulses of the flow sensor stands for, or `nil` if there is no
  /// sensor.
  func litres(_ pulses: Int64) -> Double? { settings.pulsesPerLitre.map { Double(pulses) / $0 } }

  mutating func ended(
    _ run: UInt64, ran: Double, _ outcome: RunOutcome, litres: Double?, _ wall: WallInstant
  ) {
    guard var pending = pending(run) else { return }
    var outcome = outcome
    pending.flowedLitres = litres ?? pending.flowedLitres
    if outcome == .timeLimit, let asked = pending.litres {
      let words = "\(Self.number(litres ?? 0)) of \(Self.number(asked)) l in its longest time"
      pending.why = [pending.why, words].compactMap(\.self).joined(separator: "; ")
    }
    if let why = wetEnds.removeValue(forKey: run), outcome == .stopped { (outcome, pending.why) = (.wetSoil, why) }
    if outcome == .rainDelay { pending.why = records.rainDelay?.why ?? pending.why }
    if outcome == .shutdown, settings.afterPowerCut == .resume {
      keep(pending, ran: ran, wall)
      return
    }
    change(.pendingRemoved(run: run))
    log(pending, ran: ran, outcome)
    count(pending, ran: ran, wall)
    learn(from: pending, ran: ran, outcome, wall)
  }

  /// Keeps the rest of a run in the records at an orderly shutdown, in case the computer then loses power or reboots.
  private mutating func keep(_ run: PendingRun, ran: Double, _ wall: WallInstant) {
    change(.pendingRemoved(run: run.run))
    var left = run
    // The machine ends open runs first, so the rests of open runs come before the waiting runs.
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

  /// Adds a run's time to the zone's total of today. Only the part since midnight is added of a run that began yesterday.
  private mutating func count(_ run: PendingRun, ran: Double, _ wall: WallInstant) {
    guard ran > 0 else { return }
    var share = ran
    if let opened = run.opened, settings.zone.local(opened).date != today {
      share = min(ran, max(0, Double(wall - settings.zone.instant(of: today, second: 0))))
    }
    let before = records.day == today ? records.ranToday[run.zone] ?? 0 : 0
    change(.ran(run.zone, seconds: before + share, day: today))
    countDeficit(run.zone, ran: ran)
  }

  // MARK: the log

  mutating func log(_ run: PendingRun, ran: Double, _ outcome: RunOutcome) {
    var record = WateringRecord(
      run: run.run, zone: run.zone, zoneName: name(of: run.zone), program: run.program,
      programName: run.program.flatMap { id in records.programs.first { $0.id == id }?.name },
      isScheduled: run.isScheduled, start: run.opened ?? run.queued, askedSeconds: run.askedSeconds,
      ranSeconds: ran, outcome: outcome, caller: run.caller, why: run.why)
    record.askedLitres = run.litres
    record.litres = ran > 0 ? run.flowedLitres : nil
    change(.log(record))
  }

  /// Logs a run that was never made.
  mutating func log(
    skipped run: WateringPlan.Run, _ why: RunOutcome, _ program: Program, due: WallInstant, isScheduled: Bool,
    caller: String?
  ) {
    var record = WateringRecord(
      run: takeRunNumber(), zone: run.zone, zoneName: name(of: run.zone), program: program.id,
      programName: program.name, isScheduled: isScheduled, start: due, askedSeconds: run.seconds, ranSeconds: 0,
      outcome: why, caller: caller, why: run.why)
    record.askedLitres = run.litres
    change(.log(record))
  }

  func name(of zone: ZoneID) -> String { records.zones.first { $0.id == zone }?.name ?? "zone \(zone)" }

  // MARK: the start of the process

  mutating func start(_ wall: WallInstant) {
    keys = Set(records.startKeys)
    // A clock that may be wrong does not begin a new day: until it is confirmed, the totals of the stored day count.
    setToday(reading.isSynchronised ? settings.zone.local(wall).date : records.day ?? settings.zone.local(wall).date)
    if let day = records.day, day < today { dayBefore = (day, records.ranToday) }
    // A clock that is behind the last handled instant may be wrong; that is decided once the clock is trusted.
    cursor = records.seen ?? wall
    isFirst = records.seen == nil
    if isFirst { change(.seen(cursor)) }
    findUsableZones()
    planAll(after: cursor)
    // A rain delay that is over ends here, before the machine is told of it.
    if records.rainDelay.flatMap({ $0.left(at: reading) }).map({ $0 <= 0 }) ?? false {
      change(.rainDelay(nil))
      effects.notices.append(.rainDelayOver)
    }
    let runs = restorePending(wall)
    // The machine knows nothing yet. It is told of zones first, then of their totals, of rain, and last of the runs.
    for zone in records.zones { effects.orders.append(.zone(zone.id, zoneSettings(zone))) }
    if records.day == today {
      for (zone, seconds) in records.ranToday.sorted(by: { $0.key < $1.key }) {
        effects.orders.append(.ranToday(zone, .seconds(seconds)))
      }
    }
    if records.rainDelay != nil { effects.orders.append(rainOrder) }
    effects.orders += runs.map { .run($0, .append) }
  }

  /// Decides which of the runs that the previous process left are resumed, open ones first, and returns those.
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
      // Without the flow sensor it is not known when a run by litres is complete.
      let isMeasured = run.litres == nil || settings.pulsesPerLitre != nil
      let isAllowed = mayResume && end == .powerCut && usableZones[run.zone] != nil && isMeasured
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
        again.why = records.rainDelay?.why ?? again.why
        log(again, ran: 0, .rainDelay)
      } else {
        change(.pending(again))
        runs.append(ZoneRun(again, resumes: run.opened != nil))
      }
    }
    return runs
  }

  /// Returns the way in which the process that left the run ended: by a power cut if the boot is another one, otherwise by a known shutdown or a
  /// crash.
  private func howEnded(_ run: PendingRun) -> RunOutcome {
    if let boot, let noted = run.boot, noted != boot { return .powerCut }
    return run.leftBy ?? .crash
  }

  /// Returns the time for which an interrupted run is charged, s: the longest that its valve can have been open.
  ///
  /// Within one boot that is the time since its valve opened or was last saved as open. A power cut stops the water at an unknown instant
  /// before the next save, which was never written.
  private func charge(_ run: PendingRun, _ end: RunOutcome) -> Double {
    let since: Double
    switch (end, run.openSince) {
    case (.crash, let open?) where run.boot == boot:
      // No water flowed after the guard closed the valve. If the valve was opened after the last known closing, it counts as open until now.
      let closed = valvesClosed.first { $0 >= open }.map { min($0, bootSeconds) } ?? bootSeconds
      since = max(0, closed - open)
    case (_, nil) where run.boot != nil: since = 0
    default: since = Double(settings.noteSeconds + 2)
    }
    return max(run.ranSeconds, min(Double(run.askedSeconds), run.ranSeconds + since))
  }

  /// Returns the rest of a run under a new number, or `nil` if no time or no water is left.
  private mutating func rest(of run: PendingRun, ran: Double) -> PendingRun? {
    // The time is rounded up, so that no number of interruptions lengthens a run.
    let left = run.askedSeconds - Int(saturating: ran.rounded(.up))
    guard left > 0 else { return nil }
    var rest = run
    if let litres = run.litres {
      let missing = litres - (run.flowedLitres ?? 0)
      guard missing > 0 else { return nil }
      rest.litres = missing
    }
    rest.flowedLitres = nil
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
      soakSeconds: UInt32(clamping: run.soakSeconds), ignoresRain: run.ignoresRain, litres: run.litres)
  }
}
