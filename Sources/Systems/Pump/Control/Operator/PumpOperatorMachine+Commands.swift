import Tactus

extension PumpOperatorMachine {
  /// Why nothing can be asked of the pump now, or `nil` if it can.
  var unreachable: PumpIgnoreReason? {
    @_noLocks @_noAllocation get {
      if case .shutDown = state { return .shutDown }
      return contact.isAnswering ? nil : .noContact
    }
  }

  @_noLocks @_noAllocation
  mutating func turnOn(_ wanted: PumpSpeed?, at now: TickInstant) -> PumpVerdict {
    switch state {
    case .shutDown: return .ignored(.shutDown)
    case .emergencyStopped: return .ignored(.emergencyStopped)
    case .fault: return .ignored(.inFault)
    case .unknown, .off, .starting, .on: break
    }
    if let reason = unreachable { return .ignored(reason) }
    switch state {
    case .off(.confirmed):
      guard governor.left(at: now).count > 0 else { return .ignored(.mustRest) }
      channel.forgetDriving()
      channel.speed = wanted
      source = .app
      state = .starting
      return .accepted
    case .starting:
      if case .some = wanted { channel.speed = wanted }
      return .accepted
    case .on:
      // An ON would begin the pump's own limit anew.
      guard case .some = wanted else { return .ignored(.alreadyOn) }
      channel.speed = wanted
      return .accepted
    case .off(.pending): return .ignored(.offNotConfirmed)
    case .unknown, .fault, .emergencyStopped, .shutDown: return .ignored(.stateUnknown)
    }
  }

  /// Obeyed whatever the state: at worst it is sent when the connection is back.
  @_noLocks @_noAllocation
  mutating func turnOff() -> PumpVerdict {
    channel.forgetDriving()
    switch state {
    case .unknown, .off, .starting, .on:
      source = .app
      state = .off(.pending)
    case .fault(let fault, _): state = .fault(fault, .pending)
    case .emergencyStopped: state = .emergencyStopped(.pending)
    case .shutDown: return .ignored(.shutDown)
    }
    return .accepted
  }

  /// The newest is sent when it is its turn.
  @_noLocks @_noAllocation
  mutating func setSpeed(_ wanted: PumpSpeed) -> PumpVerdict {
    switch state {
    case .starting, .on:
      if let reason = unreachable { return .ignored(reason) }
      channel.speed = wanted
      // While it starts they are the ON's.
      if case .on = state { channel.attempts = 0 }
      return .accepted
    case .unknown: return .ignored(contact.isAnswering ? .stateUnknown : .noContact)
    case .off: return .ignored(.notRunning)
    case .fault: return .ignored(.inFault)
    case .emergencyStopped: return .ignored(.emergencyStopped)
    case .shutDown: return .ignored(.shutDown)
    }
  }

  @_noLocks @_noAllocation
  mutating func emergencyStop() -> PumpVerdict {
    guard Mechanism.emergencyStopLatch.acts else { return turnOff() }
    channel.forgetDriving()
    switch state {
    case .unknown, .off, .starting, .on, .fault:
      source = .host
      state = .emergencyStopped(.pending)
    case .emergencyStopped: state = .emergencyStopped(.pending)
    case .shutDown: return .ignored(.shutDown)
    }
    return .accepted
  }

  /// Leads out of a fault whose cause is gone, by a reading that is younger than the fault, and of an emergency stop. OFF is
  /// sent once more: it leaves the pump's own error state.
  @_noLocks @_noAllocation
  mutating func reset(at now: TickInstant) -> PumpVerdict {
    switch state {
    case .off(.confirmed) where governor.left(at: now).count == 0:
      // Spent before a restart: the rest need not be waited for here either.
      governor.reset(at: now)
      return .accepted
    case .unknown, .off, .starting, .on: return .ignored(.nothingToReset)
    case .fault(_, .pending) where Mechanism.resetNeedsOff.acts,
      .emergencyStopped(.pending) where Mechanism.resetNeedsOff.acts:
      return .ignored(.offNotConfirmed)
    case .fault(let fault, _):
      if let reason = reasonToStay(fault) {
        // Who asks again soon shall be answered by a newer reading.
        channel.wantsTemperatures = true
        return .ignored(reason)
      }
      switch fault {
      case .runLimit, .safetyShutoff: governor.reset(at: now)
      case .overheat, .sensor, .startFailed, .pumpError, .missedReleases, .externalStop: break
      }
      state = .off(.pending)
      return .accepted
    case .emergencyStopped:
      state = .off(.pending)
      return .accepted
    case .shutDown: return .ignored(.shutDown)
    }
  }

  /// It is `nil` if its cause is gone by the last reading.
  @_noLocks @_noAllocation
  private func reasonToStay(_ fault: PumpFault) -> PumpIgnoreReason? {
    let persists: Bool
    switch fault {
    case .overheat: persists = isTooHot
    case .sensor: if case .some = implausible { persists = true } else { persists = false }
    case .runLimit, .safetyShutoff, .startFailed, .pumpError, .missedReleases, .externalStop: return nil
    }
    if awaitsReading { return .noReadingYet }
    return persists ? .causePersists : nil
  }

  /// One that is known to be off stays so; otherwise a person has to reset.
  @_noLocks @_noAllocation
  mutating func externalStop() {
    guard Mechanism.staysStopped.acts else { return }
    if case .off(.confirmed) = state { return }
    fail(.externalStop, isOff: false)
  }

  @_noLocks @_noAllocation
  mutating func quit() {
    if case .shutDown = state { return }
    channel.forgetDriving()
    source = .host
    guard Mechanism.shutdownFinal.acts else {
      state = .off(.pending)
      return
    }
    if case .some(.confirmed) = state.off { state = .shutDown(.confirmed) } else { state = .shutDown(.pending) }
  }

  /// The first cause stays. `isOff`: the pump has said itself that it does not pump, which confirms no OFF that is on its way.
  @_noLocks @_noAllocation
  mutating func fail(_ fault: PumpFault, isOff: Bool) {
    channel.forgetDriving()
    guard Mechanism.faultLatch.acts else {
      state = .off(.pending)
      return
    }
    let isOff = isOff && !channel.owesOff
    switch state {
    case .off(.confirmed): state = .fault(fault, .confirmed)
    case .unknown, .off(.pending), .starting, .on:
      source = isOff ? .device : .host
      state = .fault(fault, isOff ? .confirmed : .pending)
    case .fault(let first, .pending): if isOff { state = .fault(first, .confirmed) }
    case .emergencyStopped(.pending): if isOff { state = .emergencyStopped(.confirmed) }
    case .shutDown(.pending): if isOff { state = .shutDown(.confirmed) }
    case .fault(_, .confirmed), .emergencyStopped(.confirmed), .shutDown(.confirmed): break
    }
  }

  // MARK: connection

  @_noLocks @_noAllocation
  mutating func link() {
    if contact.isUp { loseSight() }
    channel.clear()
    contact = .waiting
    channel.wantsStatus = true
  }

  @_noLocks @_noAllocation
  mutating func unlink(at now: TickInstant) {
    guard contact.isUp else { return }
    channel.clear()
    var backOff = PumpBackOff(from: now)
    backOff.tried(at: now)
    contact = .down(backOff)
    loseSight()
  }

  /// It is not known any more what the pump does.
  @_noLocks @_noAllocation
  mutating func loseSight() {
    channel.forgetDriving()
    speed = nil
    switch (state, settings.linkLoss) {
    case (.on, .keepsRunning), (.off(.confirmed), _): state = .unknown
    // An ON whose arrival was not confirmed must not start it later.
    case (.on, .stopsOnReturn), (.starting, _): state = .off(.pending)
    case (.unknown, _), (.off, _), (.fault, _), (.emergencyStopped, _), (.shutDown, _): break
    }
  }
}
