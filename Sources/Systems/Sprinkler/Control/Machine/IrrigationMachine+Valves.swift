@_spi(FromOutside) import Conversions
import Tactus

extension IrrigationMachine {
  // MARK: the ends of runs

  /// Ends the zone's run; does nothing if the zone is closed. The master valve closes after its lag.
  @_noLocks @_noAllocation
  mutating func end(_ index: Int, _ outcome: RunOutcome, at now: TickInstant) {
    if let run = close(index, at: now) { finish(run, outcome, at: now) }
  }

  /// Closes the valve and returns its run with the remaining time, or `nil` if the zone was closed.
  @_noLocks @_noAllocation
  mutating func close(_ index: Int, at now: TickInstant) -> AcceptedRun? {
    switch zones[index].valve {
    case .closed: return nil
    case .leading(let run, _):
      zones[index].valve = .closed
      return run
    case .open(var run, let since):
      account(&run, index, since: since, at: now)
      zones[index].valve = .closed
      zones[index].closedAt = now
      anyClosedAt = now
      guard let zone = zones[index].settings else { return run }
      groupClosedAt[Int(zone.group)] = now
      if zone.usesMaster, isMasterOpen, let master = settings.master, .zero < master.lag {
        masterLagEnd = later(masterLagEnd ?? now, now + master.lag)
      }
      return run
    }
  }

  @_noLocks @_noAllocation
  mutating func account(_ run: inout AcceptedRun, _ index: Int, since: TickInstant, at now: TickInstant) {
    let time = now - since
    run.ran = run.ran + time
    run.left = run.left - time
    zones[index].ranBefore = zones[index].ranToday(day: day, at: now)
  }

  /// Issues the one notice that ends an accepted run. The valve must be closed already.
  @_noLocks @_noAllocation
  mutating func finish(_ run: AcceptedRun, _ outcome: RunOutcome, at now: TickInstant) {
    let ended = EndedRun(
      run: run.run, outcome: outcome, ran: run.ran, opened: run.opened, pulses: run.pulses,
      ranToday: zones[run.run.zone.index].ranToday(day: day, at: now))
    notices.pushReserved(IrrigationNotice(at: now, .ended(ended)), places: run.hasBegun ? 1 : 2)
  }

  @_noLocks @_noAllocation
  mutating func endQueued(_ outcome: RunOutcome, at now: TickInstant, isBegunToo: Bool) {
    var place = 0
    while place < queue.count {
      if isBegunToo || !queue[place].hasBegun {
        finish(queue.remove(at: place), outcome, at: now)
      } else {
        place += 1
      }
    }
  }

  /// Ends every run and turns every line off immediately; the master valve does not lag.
  @_noLocks @_noAllocation
  mutating func endAll(_ outcome: RunOutcome, at now: TickInstant) {
    for index in 0..<zoneEnd { end(index, outcome, at: now) }
    endQueued(outcome, at: now, isBegunToo: true)
    masterLagEnd = nil
  }

  /// Ends the runs, the master valve's lag and the pause whose time is over at `now`.
  @_noLocks @_noAllocation
  mutating func expire(at now: TickInstant) {
    for index in 0..<zoneEnd {
      if hasItsWater(index) {
        end(index, .completed, at: now)
      } else if let (until, outcome) = zones[index].end(day: day), until.isReached(at: now) {
        end(index, outcome, at: now)
      }
    }
    if let masterLagEnd, masterLagEnd.isReached(at: now) { self.masterLagEnd = nil }
    if case .paused(let until) = state, until.isReached(at: now) { state = .idle }
  }

  /// Returns whether the zone's run is limited by litres and has had them, by the flow sensor's pulses.
  @_noLocks @_noAllocation
  private func hasItsWater(_ index: Int) -> Bool {
    guard let flow = settings.flow, case .open(let run, _) = zones[index].valve, let litres = run.run.litres else {
      return false
    }
    return litres * flow.pulsesPerLitre <= Double(run.pulses)
  }

  // MARK: starting runs

  /// Opens every valve that may open at `now`, and decides the levels of the lines.
  @_noLocks @_noAllocation
  mutating func settle(at now: TickInstant) {
    queueDeadline = nil
    if state.opens {
      for index in 0..<zoneEnd {
        if case .leading(let run, let opensAt) = zones[index].valve, opensAt.isReached(at: now) {
          let earliest = delayEnd(index)
          if earliest.isReached(at: now) {
            zones[index].valve = .closed
            open(index, run, at: now)
          } else {
            // Another valve of the group closed meanwhile, so this one waits until the station delay is over.
            zones[index].valve = .leading(run, opensAt: earliest)
          }
        }
      }
      startQueued(at: now)
    }
    setMaster(at: now)
    lines = wantedLines
    if state.opens { state = lines == 0 && activeCount == 0 ? .idle : .watering }
  }

  /// Starts every queued run that may start now, in the order of the queue.
  @_noLocks @_noAllocation
  private mutating func startQueued(at now: TickInstant) {
    var place = 0
    while place < queue.count, activeCount < settings.maximumOpen || !Mechanism.valvesAtOnce.acts {
      let index = queue[place].run.zone.index
      guard let earliest = earliestStart(place) else {
        place += 1
        continue
      }
      guard earliest.isReached(at: now) else {
        if earliest.isBefore(queueDeadline) { queueDeadline = earliest }
        place += 1
        continue
      }
      start(index, queue.remove(at: place), at: now)
    }
  }

  /// Returns the instant at which the delays of the queued run end, or `nil` if its zone is open or has no line, or its group has no room.
  @_noLocks @_noAllocation
  private func earliestStart(_ place: Int) -> TickInstant? {
    let run = queue[place]
    let slot = zones[run.run.zone.index]
    guard slot.isClosed, let zone = slot.settings, case .some = zone.line,
      activeCount(inGroup: zone.group) < Int(settings.maximumOpenInGroup[Int(zone.group)])
        || !Mechanism.valvesAtOnce.acts
    else { return nil }
    let delayEnd = delayEnd(run.run.zone.index)
    guard let closed = slot.closedAt, !run.hasBegun else { return delayEnd }
    return later(delayEnd, closed + .seconds(Int64(run.run.soakSeconds)))
  }

  /// Returns the instant at which the station delay of the zone's group ends. If only one valve may be open in all, all zones count as one group.
  @_noLocks @_noAllocation
  private func delayEnd(_ index: Int) -> TickInstant {
    let group = Int(zones[index].settings?.group ?? 0)
    let closed = settings.maximumOpen == 1 ? anyClosedAt : groupClosedAt[group]
    guard let closed else { return TickInstant(nanoseconds: .min) }
    return closed + settings.stationDelay
  }

  /// Starts the run whose turn has come: opens its valve, or first the master valve if that has a lead time.
  @_noLocks @_noAllocation
  private mutating func start(_ index: Int, _ run: AcceptedRun, at now: TickInstant) {
    var opensAt = now
    if let zone = zones[index].settings, zone.usesMaster, let master = settings.master, .zero < master.lead {
      opensAt = later(now, (masterSince ?? now) + master.lead)
    }
    if now < opensAt {
      zones[index].valve = .leading(run, opensAt: opensAt)
    } else {
      open(index, run, at: now)
    }
  }

  @_noLocks @_noAllocation
  mutating func open(_ index: Int, _ accepted: AcceptedRun, at now: TickInstant) {
    let (allowance, outcome) = zones[index].allowance(of: accepted, from: now, day: day)
    guard .zero < allowance else { return finish(accepted, outcome, at: now) }
    var run = accepted
    if run.hasBegun {
      notices.push(IrrigationNotice(at: now, .reopened(run.run, left: run.left)))
    } else {
      run.opened = now
      notices.pushReserved(IrrigationNotice(at: now, .opened(run.run)), places: 1)
    }
    zones[index].valve = .open(run, since: now)
  }

  // MARK: the master valve and the lines

  @_noLocks @_noAllocation
  private mutating func setMaster(at now: TickInstant) {
    guard case .some = settings.master else { return }
    let wants = state.opens && wantsMaster(at: now)
    guard wants != isMasterOpen else { return }
    if wants { masterSince = now } else { masterSince = nil }
    notices.push(IrrigationNotice(at: now, .master(isOpen: wants)))
  }

  @_noLocks @_noAllocation
  private func wantsMaster(at now: TickInstant) -> Bool {
    if case .some = masterLagEnd { return true }
    for index in 0..<zoneEnd {
      guard let zone = zones[index].settings, zone.usesMaster else { continue }
      switch zones[index].valve {
      case .closed: continue
      case .leading: return true
      case .open:
        guard let (from, to) = masterSpan(index) else { continue }
        if from.isReached(at: now), now < to { return true }
      }
    }
    return false
  }

  /// Returns the beginning and the end of the time in which an open zone needs the master valve, within the zone's run;
  /// `nil` if the zone does not use one.
  @_noLocks @_noAllocation
  private func masterSpan(_ index: Int) -> (TickInstant, TickInstant)? {
    guard let master = settings.master, let zone = zones[index].settings, zone.usesMaster,
      case .open(_, let since) = zones[index].valve, let (until, _) = zones[index].end(day: day)
    else { return nil }
    return (master.lead < .zero ? since - master.lead : since, master.lag < .zero ? until + master.lag : until)
  }

  /// Returns the instant at which the state of the zone's valve next changes by itself, or `nil` if the valve is closed.
  @_noLocks @_noAllocation
  func deadline(_ index: Int) -> TickInstant? {
    switch zones[index].valve {
    case .closed: return nil
    case .leading(_, let opensAt): return opensAt
    case .open:
      guard let (until, _) = zones[index].end(day: day) else { return nil }
      guard let (from, to) = masterSpan(index), from < to else { return until }
      if steppedAt < from { return from }
      return steppedAt < to && to < until ? to : until
    }
  }

  private var wantedLines: UInt64 {
    @_noLocks @_noAllocation get {
      var lines: UInt64 = 0
      for index in 0..<zoneEnd {
        if case .open = zones[index].valve, let line = zones[index].settings?.line { lines |= 1 << UInt64(line) }
      }
      if isMasterOpen, let master = settings.master { lines |= 1 << UInt64(master.line) }
      return lines
    }
  }

  // MARK: counting

  /// The number of runs that are open or about to open.
  var activeCount: Int {
    @_noLocks @_noAllocation get {
      var count = 0
      for index in 0..<zoneEnd where !zones[index].isClosed { count += 1 }
      return count
    }
  }

  @_noLocks @_noAllocation
  func activeCount(inGroup group: UInt8) -> Int {
    var count = 0
    for index in 0..<zoneEnd {
      if !zones[index].isClosed, let zone = zones[index].settings, zone.group == group { count += 1 }
    }
    return count
  }

  /// Returns the index of the zone whose run has been open for the longest time, in the group if one is given; `nil` if no run is open.
  @_noLocks @_noAllocation
  func oldestActive(inGroup group: UInt8?) -> Int? {
    var oldest: Int?
    var opened = TickInstant.distantFuture
    for index in 0..<zoneEnd {
      guard let zone = zones[index].settings else { continue }
      if let group, zone.group != group { continue }
      let instant: TickInstant
      switch zones[index].valve {
      case .closed: continue
      case .leading(_, let opensAt): instant = opensAt
      case .open(_, let since): instant = since
      }
      guard instant < opened else { continue }
      oldest = index
      opened = instant
    }
    return oldest
  }
}
