@_spi(FromOutside) import Conversions
import Tactus

extension IrrigationMachine {
  // MARK: accepting runs

  @_noLocks @_noAllocation
  mutating func accept(_ asked: ZoneRun, _ placement: RunPlacement, at now: TickInstant) -> IrrigationVerdict {
    if let refusal = refusal(of: asked, placement, at: now) { return .refused(refusal) }
    guard notices.reserve() else { return .refused(.noticesNotTaken) }
    var run = AcceptedRun(asked)
    let index = asked.zone.index
    switch placement {
    case .append: queue.insert(run, at: queue.count)
    case .insert:
      // Runs that a pause interrupted count as open.
      var place = 0
      while place < queue.count, queue[place].hasBegun { place += 1 }
      queue.insert(run, at: place)
    case .now:
      run.run.soakSeconds = 0
      if handOver(index, to: run, at: now) { break }
      makeRoom(for: index, at: now)
      queue.insert(run, at: 0)
    case .replace:
      for other in 0..<zoneEnd where other != index { end(other, .replaced, at: now) }
      endQueued(.replaced, at: now, isBegunToo: true)
      if handOver(index, to: run, at: now) { break }
      queue.insert(run, at: 0)
    }
    return .accepted
  }

  @_noLocks @_noAllocation
  private func refusal(of run: ZoneRun, _ placement: RunPlacement, at now: TickInstant) -> IrrigationRefusal? {
    if let refusal = state.refusal { return refusal }
    let slot = zones[run.zone.index]
    guard let zone = slot.settings else { return .noSuchZone }
    guard zone.isEnabled else { return .zoneDisabled }
    guard case .some = zone.line else { return .zoneHasNoLine }
    guard run.seconds >= 1, run.seconds <= 86_400 else { return .invalidDuration }
    if let litres = run.litres {
      guard litres > 0, litres <= 100_000 else { return .invalidAmount }
    }
    guard run.seconds <= zone.maximumSeconds || !Mechanism.longestRun.acts else { return .longerThanMaximum }
    if isRaining, run.followsRain { return .rainDelay }
    switch placement {
    case .replace: return nil
    case .append, .insert: break
    case .now:
      if case .paused = state { return .paused }
      if Mechanism.dayLimit.acts, let perDay = zone.maximumSecondsPerDay {
        guard slot.ranToday(day: day, at: now) < .seconds(Int64(perDay)) else { return .dayLimitReached }
      }
    }
    return queue.count + activeCount < Self.capacity ? nil : .queueFull
  }

  /// Lets an open zone continue with another run without closing its valve or the master valve. Returns `false` if the zone is closed.
  @_noLocks @_noAllocation
  private mutating func handOver(_ index: Int, to run: AcceptedRun, at now: TickInstant) -> Bool {
    switch zones[index].valve {
    case .closed: return false
    case .leading(let old, let opensAt):
      zones[index].valve = .leading(run, opensAt: opensAt)
      finish(old, .replaced, at: now)
    case .open(var old, let since):
      account(&old, index, since: since, at: now)
      zones[index].valve = .closed
      finish(old, .replaced, at: now)
      open(index, run, at: now)
    }
    return true
  }

  /// Ends the oldest runs of the zone's group, then of all groups, until one more valve may open.
  @_noLocks @_noAllocation
  private mutating func makeRoom(for index: Int, at now: TickInstant) {
    guard let zone = zones[index].settings, Mechanism.valvesAtOnce.acts else { return }
    while activeCount(inGroup: zone.group) >= Int(settings.maximumOpenInGroup[Int(zone.group)]),
      let oldest = oldestActive(inGroup: zone.group)
    {
      end(oldest, .replaced, at: now)
    }
    while activeCount >= settings.maximumOpen, let oldest = oldestActive(inGroup: nil) {
      end(oldest, .replaced, at: now)
    }
  }

  @_noLocks @_noAllocation
  mutating func extend(_ zone: ZoneID, seconds: UInt32, at now: TickInstant) -> IrrigationVerdict {
    if let refusal = state.refusal { return .refused(refusal) }
    let index = zone.index
    guard let limits = zones[index].settings else { return .refused(.noSuchZone) }
    guard seconds >= 1, seconds <= 86_400 else { return .refused(.invalidDuration) }
    var place: Int?
    var found = zones[index].active
    if case .none = found {
      for number in 0..<queue.count where queue[number].hasBegun && queue[number].run.zone.index == index {
        place = number
        found = queue[number]
      }
    }
    guard var run = found else { return .refused(.zoneNotRunning) }
    guard run.run.seconds + seconds <= limits.maximumSeconds || !Mechanism.longestRun.acts else {
      return .refused(.longerThanMaximum)
    }
    run.run.seconds += seconds
    run.left = run.left + .seconds(Int64(seconds))
    if let place { queue[place] = run }
    switch zones[index].valve {
    case .closed: break
    case .leading(_, let opensAt): zones[index].valve = .leading(run, opensAt: opensAt)
    case .open(_, let since): zones[index].valve = .open(run, since: since)
    }
    notices.push(IrrigationNotice(at: now, .extended(run.run, until: zones[index].end(day: day)?.0)))
    return .accepted
  }

  @_noLocks @_noAllocation
  mutating func turnOff(_ zone: ZoneID, dropsQueued: Bool, at now: TickInstant) -> IrrigationVerdict {
    guard case .some = zones[zone.index].settings else { return .refused(.noSuchZone) }
    end(zone.index, .stopped, at: now)
    var place = 0
    while place < queue.count {
      if queue[place].run.zone.index == zone.index, dropsQueued || queue[place].hasBegun {
        finish(queue.remove(at: place), .stopped, at: now)
      } else {
        place += 1
      }
    }
    return .accepted
  }

  @_noLocks @_noAllocation
  mutating func cancel(_ id: UInt64, at now: TickInstant) -> IrrigationVerdict {
    for index in 0..<zoneEnd {
      if let active = zones[index].active, active.run.id == id {
        end(index, .stopped, at: now)
        return .accepted
      }
    }
    for place in 0..<queue.count where queue[place].run.id == id {
      finish(queue.remove(at: place), .stopped, at: now)
      return .accepted
    }
    return .refused(.noSuchRun)
  }

  @_noLocks @_noAllocation
  mutating func skip(at now: TickInstant) -> IrrigationVerdict {
    var hasEnded = activeCount > 0
    for index in 0..<zoneEnd { end(index, .stopped, at: now) }
    var place = 0
    while place < queue.count {
      if queue[place].hasBegun {
        finish(queue.remove(at: place), .stopped, at: now)
        hasEnded = true
      } else {
        place += 1
      }
    }
    return hasEnded ? .accepted : .refused(.nothingToSkip)
  }

  /// Moves the open runs to the head of the queue with their remaining time, the oldest first.
  @_noLocks @_noAllocation
  mutating func pause(seconds: UInt32, at now: TickInstant) -> IrrigationVerdict {
    if let refusal = state.refusal { return .refused(refusal) }
    guard seconds >= 1, seconds <= 86_400 else { return .refused(.invalidDuration) }
    var place = 0
    while let index = oldestActive(inGroup: nil), let run = close(index, at: now) {
      queue.insert(run, at: place)
      place += 1
    }
    masterLagEnd = nil
    state = .paused(until: now + .seconds(Int64(seconds)))
    return .accepted
  }

  @_noLocks @_noAllocation
  mutating func rain(isActive: Bool, endsRuns: Bool, at now: TickInstant) {
    isRaining = isActive
    guard isActive else { return }
    for index in 0..<zoneEnd {
      guard let active = zones[index].active, active.followsRain, endsRuns || !active.hasBegun else { continue }
      end(index, .rainDelay, at: now)
    }
    var place = 0
    while place < queue.count {
      if queue[place].followsRain, endsRuns || !queue[place].hasBegun {
        finish(queue.remove(at: place), .rainDelay, at: now)
      } else {
        place += 1
      }
    }
  }

  @_noLocks @_noAllocation
  mutating func set(_ zone: ZoneID, _ new: ZoneSettings?, at now: TickInstant) -> IrrigationVerdict {
    if case .shutDown = state { return .refused(.shutDown) }
    let index = zone.index
    if let new, let refusal = refusal(of: new, for: index) { return .refused(refusal) }
    var isRunnable = false
    if let new { isRunnable = new.isEnabled }
    if !isRunnable {
      end(index, .disabled, at: now)
      var place = 0
      while place < queue.count {
        if queue[place].run.zone.index == index {
          finish(queue.remove(at: place), .disabled, at: now)
        } else {
          place += 1
        }
      }
    }
    zones[index].settings = new
    endZoneAlarm(zone, at: now)
    reach(zone)
    return .accepted
  }

  @_noLocks @_noAllocation
  private func refusal(of new: ZoneSettings, for index: Int) -> IrrigationRefusal? {
    guard new.maximumSeconds >= 1, new.maximumSeconds <= 86_400 else { return .invalidDuration }
    guard Int(new.group) < IrrigationSettings.groupCount else { return .noSuchGroup }
    if let line = new.line {
      guard Int(line) < settings.lineCount else { return .noSuchLine }
      if let master = settings.master, master.line == line { return .lineTaken }
      for other in 0..<zoneEnd where other != index {
        if let taken = zones[other].settings?.line, taken == line { return .lineTaken }
      }
    }
    guard !zones[index].isClosed, let old = zones[index].settings else { return nil }
    guard old.group == new.group else { return .zoneOpen }
    switch (old.line, new.line) {
    case (let one?, let other?): return one == other ? nil : .zoneOpen
    default: return .zoneOpen
    }
  }
}
