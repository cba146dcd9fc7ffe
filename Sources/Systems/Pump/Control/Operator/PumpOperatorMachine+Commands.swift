import Tactus

extension PumpOperatorMachine {
  /// The reason why the pump cannot be commanded now, or `nil` if it can.
  var unreachable: PumpIgnoreReason? {
    @_noLocks @_noAllocation get {
      if case .shutDown = state { return .shutDown }
      return contact.isAnswering ? nil : .noContact
    }
  }

  @_noLocks @_noAllocation
  mutating func obey(_ order: PumpOrder, at now: TickInstant) -> PumpVerdict {
    switch order {
    case .turnOn(let speed): return turnOn(speed, lasting: nil, at: now)
    case .run(let speed, let time):
      let verdict = turnOn(speed, lasting: time, at: now)
      if case .refused(.alreadyOn) = verdict { return .accepted }
      return verdict
    case .turnOff: return turnOff()
    case .setSpeed(let speed): return setSpeed(speed)
    case .readTemperatures:
      if let reason = unreachable { return .refused(reason) }
      channel.wantsTemperatures = true
    case .watched:
      // A STATUS is requested for the first look, so that it shows the present state.
      if watchedAt.map({ (now - $0).count >= Self.watchPatience.count }) ?? true { channel.wantsStatus = contact.isUp }
      watchedAt = now
    case .emergencyStop: return emergencyStop()
    case .reset: return reset(at: now)
    case .quit: quit()
    case .query: break
    }
    return .accepted
  }

  @_noLocks @_noAllocation
  private mutating func turnOn(_ wanted: PumpSpeed?, lasting time: Nanoseconds?, at now: TickInstant) -> PumpVerdict {
    switch state {
    case .shutDown: return .refused(.shutDown)
    case .emergencyStopped: return .refused(.emergencyStopped)
    case .fault: return .refused(.inFault)
    case .unknown, .off, .starting, .on: break
    }
    if let reason = unreachable { return .refused(reason) }
    switch state {
    case .off(.confirmed):
      let left = governor.left(at: now)
      guard left.count > 0 else { return .refused(.mustRest) }
      if let time, left < time { return .refused(.beyondLimit) }
      channel.forgetDriving()
      channel.speed = wanted
      runEnds = time.map { now + $0 }
      source = .app
      state = .starting
      return .accepted
    case .starting, .on:
      // A further ON would begin the pump's built-in limit anew, so none is sent.
      if case .on = state, case .none = wanted, case .none = time { return .refused(.alreadyOn) }
      if let time {
        if governor.left(at: now) < time { return .refused(.beyondLimit) }
        runEnds = now + time
      }
      if case .some = wanted { channel.speed = wanted }
      return .accepted
    case .off(.pending): return .refused(.offNotConfirmed)
    case .unknown, .fault, .emergencyStopped, .shutDown: return .refused(.stateUnknown)
    }
  }

  /// Accepts an OFF in every state; without a connection the OFF is sent once there is one.
  @_noLocks @_noAllocation
  mutating func turnOff() -> PumpVerdict {
    channel.forgetDriving()
    switch state {
    case .unknown, .off, .starting, .on:
      source = .app
      state = .off(.pending)
    case .fault(let fault, _): state = .fault(fault, .pending)
    case .emergencyStopped: state = .emergencyStopped(.pending)
    case .shutDown: return .refused(.shutDown)
    }
    return .accepted
  }

  /// Accepts a new speed. Only the newest one is sent, when the channel is free.
  @_noLocks @_noAllocation
  mutating func setSpeed(_ wanted: PumpSpeed) -> PumpVerdict {
    switch state {
    case .starting, .on:
      if let reason = unreachable { return .refused(reason) }
      channel.speed = wanted
      // While the pump starts, `attempts` counts those of the ON.
      if case .on = state { channel.attempts = 0 }
      return .accepted
    case .unknown: return .refused(contact.isAnswering ? .stateUnknown : .noContact)
    case .off: return .refused(.notRunning)
    case .fault: return .refused(.inFault)
    case .emergencyStopped: return .refused(.emergencyStopped)
    case .shutDown: return .refused(.shutDown)
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
    case .shutDown: return .refused(.shutDown)
    }
    return .accepted
  }

  /// Ends an emergency stop, or a fault whose cause is gone according to a reading younger than the fault. OFF is sent once more, because an OFF ends
  /// the pump's error state.
  @_noLocks @_noAllocation
  mutating func reset(at now: TickInstant) -> PumpVerdict {
    switch state {
    case .off(.confirmed) where governor.left(at: now).count == 0:
      // The limit was used up before a restart; a reset lifts it here, too.
      governor.reset(at: now)
      return .accepted
    case .unknown, .off, .starting, .on: return .refused(.nothingToReset)
    case .fault(_, .pending) where Mechanism.resetNeedsOff.acts,
      .emergencyStopped(.pending) where Mechanism.resetNeedsOff.acts:
      return .refused(.offNotConfirmed)
    case .fault(let fault, _):
      if let reason = reasonToStay(fault) {
        // A newer reading is requested, so that another reset soon can be decided by it.
        channel.wantsTemperatures = true
        return .refused(reason)
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
    case .shutDown: return .refused(.shutDown)
    }
  }

  /// Returns the reason why a fault cannot be reset, or `nil` if the last reading shows that its cause is gone.
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

  /// Handles a stop from outside the loop: a pump that is known to be off remains usable; otherwise a person has to reset.
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

  /// Enters a fault; the first cause is kept. `isOff` says that the pump has reported that it does not run, which does not confirm an OFF that is on
  /// its way.
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

  /// Notes that the pump's state is unknown from now on.
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
