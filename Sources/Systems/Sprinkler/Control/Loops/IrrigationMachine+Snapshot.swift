import Tactus

extension IrrigationMachine {
  /// Writes the machine's state into the snapshot. `expected` is scratch space for `SprinklerSnapshot.shownQueue` instants.
  @_noLocks @_noAllocation
  func show(
    in snapshot: UnsafeMutablePointer<SprinklerSnapshot>, expected: UnsafeMutablePointer<TickInstant?>,
    at now: TickInstant
  ) {
    snapshot.pointee.state = state
    snapshot.pointee.isRaining = isRaining
    snapshot.pointee.told = lines
    snapshot.pointee.confirmation = confirmation
    if case .some = settings.master { snapshot.pointee.isMasterOpen = isMasterOpen }
    if case .some = snapshot.pointee.flow {
      snapshot.pointee.flow?.pulses = flowPulses
      snapshot.pointee.flow?.litresPerMinute = litresPerMinute
      snapshot.pointee.flow?.alarm = flowAlarm
    }
    snapshot.pointee.noticesWaiting = noticesWaiting
    snapshot.pointee.noticesDropped = noticesDropped
    for index in 0..<ZoneID.maximum { snapshot.pointee.zones[index] = status(index, at: now) }
    snapshot.pointee.queueCount = queue.count
    let shown = forecast(into: expected, capacity: SprinklerSnapshot.shownQueue, at: now)
    for place in 0..<shown {
      let run = queue[place]
      snapshot.pointee.queue[place] = QueuedRunStatus(
        run: run.run, left: run.left, ran: run.ran, expected: expected[place])
    }
  }

  @_noLocks @_noAllocation
  private func status(_ index: Int, at now: TickInstant) -> ZoneStatus {
    let slot = zones[index]
    var status = ZoneStatus()
    status.settings = slot.settings
    status.closedAt = slot.closedAt
    status.ranToday = slot.ranToday(day: day, at: now)
    switch slot.valve {
    case .closed: break
    case .leading(let run, let opensAt): status.valve = .leading(run.run, opensAt: opensAt)
    case .open(let run, let since):
      status.valve = .open(run.run, opened: run.opened ?? since, until: slot.end(day: day)?.0 ?? now)
      status.ran = run.ran + (now - since)
      status.pulses = run.pulses
    }
    return status
  }
}
