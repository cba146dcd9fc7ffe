import Tactus
import Wire

// The rules of commands: which source may drive, and what its command changes.

extension RobotMachine {
  /// Handles a command other than zero, which only the controlling source may send, or any source while control is free.
  @_noLocks @_noAllocation
  mutating func drive(
    _ speeds: WheelSpeeds, share: Double = 1, _ timestamp: SenderTimestamp?, from source: ControlSource,
    startsFromNow: Bool, at now: TickInstant
  ) -> RobotAction {
    holdsStick(source, at: now)
    switch state {
    case .stopped(let standstill) where standstill.reason.needsRest:
      if case .some = batteryStop { return .ignored(.batteryEmpty) }
      return .ignored(.stickNotAtZero)
    case .stopped(var standstill):
      var holder: Holder
      if let current = standstill.holder {
        holder = current
        let hearing = holder.hear(timestamp, from: source, at: now)
        standstill.holder = holder
        state = .stopped(standstill)
        if case .ignored(let reason) = hearing { return .ignored(reason) }
        // The command counts as heard: otherwise control would lapse while the stick is held, and the stick could drive on without a release.
        if case .stoppedBy = standstill.reason, Mechanism.letGoAfterStop.acts { return .ignored(.stickNotAtZero) }
      } else {
        holder = Holder(source: source, timestamp, at: now)
      }
      let credit = startsFromNow ? Nanoseconds(0) : settings.tickPeriod
      state = .driving(
        Control(
          holder, target: speeds, share: share, at: now, credit: credit, failures: standstill.confirmation.failures))
      return refresh(at: now)
    case .driving(var control):
      let hearing = control.holder.hear(timestamp, from: source, at: now)
      if case .some = control.batteryStop {
        state = .driving(control)
        if case .ignored(let reason) = hearing { return .ignored(reason) }
        return .ignored(.batteryEmpty)
      }
      switch hearing {
      case .ignored(let reason):
        state = .driving(control)
        return .ignored(reason)
      case .heardByNewClock where Mechanism.restBetweenClocks.acts:
        // The motors pass through zero, because the age of the present speeds and the sender of the new ones are not certain.
        control = Control(
          control.holder, target: speeds, share: share, at: now, credit: settings.tickPeriod,
          failures: control.failures)
        control.restsUntil = now + Self.restBetweenClocks
      case .heard, .heardByNewClock: (control.target, control.share) = (speeds, share)
      }
      state = .driving(control)
      return refresh(at: now)
    case .emergencyStopped: return .ignored(.emergencyStopped)
    case .fault: return .ignored(.inFault)
    case .shutDown: return .ignored(.shutDown)
    }
  }

  /// Records that a stick is held at `source`, whether its command is obeyed or not.
  @_noLocks @_noAllocation
  mutating func holdsStick(_ source: ControlSource, at now: TickInstant) {
    lastNonZeroCommand = now
    lastNonZeroSource = source
  }

  /// Handles a stop or a command of (0, 0), which is honoured from any source, however old.
  ///
  /// From the controlling source, it also counts as a heartbeat if its timestamp is in place (see `SenderClock`). From another source, it
  /// does not take control away: the controlling source keeps control and must bring its stick to zero before it may drive on. A command,
  /// unlike a stop, takes control that is free.
  @_noLocks @_noAllocation
  mutating func halt(
    _ timestamp: SenderTimestamp?, from source: ControlSource, takesControl: Bool, at now: TickInstant
  ) -> RobotAction {
    switch state {
    case .stopped(var standstill):
      if case .some = batteryStop { break }
      if standstill.reason.needsRest {
        // Another source still holds a stick.
        if isHeld(byOtherThan: source, at: now) { break }
        standstill.reason = .commanded
      }
      if var holder = standstill.holder {
        let hearing = holder.hear(timestamp, from: source, at: now)
        standstill.holder = holder
        switch hearing {
        case .heard, .heardByNewClock: standstill.reason = .commanded
        case .ignored: break
        }
      } else if takesControl {
        standstill.holder = Holder(source: source, timestamp, at: now)
        standstill.reason = .commanded
      }
      state = .stopped(standstill)
    case .driving(var control):
      if !Mechanism.stopFromAnyone.acts, !control.holder.source.isSame(as: source) { return .ignored(.notController) }
      _ = control.holder.hear(timestamp, from: source, at: now)
      state = .stopped(
        Standstill(
          reason: control.holder.source.isSame(as: source) ? .commanded : .stoppedBy(source),
          confirmation: .pending(failures: control.failures), holder: control.holder))
    case .emergencyStopped, .fault, .shutDown:
      break
    }
    return RobotAction(.stop)
  }

  /// Handles a stop of the motors from outside the program. Control is free, but a source that held a stick must release it before it may
  /// drive.
  @_noLocks @_noAllocation
  mutating func externalStop() -> RobotAction {
    guard Mechanism.staysStopped.acts else { return RobotAction(.stop) }
    switch state {
    case .stopped(var standstill):
      // Nobody has driven yet: nothing was stopped, and no stick was held.
      if case .none = lastNonZeroCommand {
        standstill.confirmation = .pending(failures: failures)
      } else {
        standstill = Standstill(reason: .externalStop, confirmation: .pending(failures: failures), holder: nil)
      }
      state = .stopped(standstill)
    case .driving:
      state = .stopped(Standstill(reason: .externalStop, confirmation: .pending(failures: failures), holder: nil))
    case .emergencyStopped, .fault, .shutDown:
      break
    }
    return RobotAction(.stop)
  }

  /// Returns whether a source other than `source` held a stick within the last failsafe timeout.
  @_noLocks @_noAllocation
  private func isHeld(byOtherThan source: ControlSource, at now: TickInstant) -> Bool {
    guard let held = lastNonZeroCommand, let holder = lastNonZeroSource, !holder.isSame(as: source) else {
      return false
    }
    return now < held + settings.failsafeTimeout
  }

  @_noLocks @_noAllocation
  mutating func emergencyStop(by source: ControlSource) -> RobotAction {
    switch state {
    case .stopped, .driving:
      state = .emergencyStopped(EmergencyStop(by: source, confirmation: .pending(failures: failures), fault: nil))
    case .fault(let fault):
      state = .emergencyStopped(
        EmergencyStop(by: source, confirmation: .pending(failures: failures), fault: fault.cause))
    case .emergencyStopped, .shutDown:
      break
    }
    return RobotAction(.stop)
  }

  /// Leaves an e-stop or a fault if the stop of the motors is confirmed and no stick is held.
  @_noLocks @_noAllocation
  mutating func reset(by source: ControlSource, at now: TickInstant) -> RobotAction {
    if case .fault = state, case .some = tiltedSince { return .ignored(.tilted) }
    let confirmation: StopConfirmation
    switch state {
    case .stopped, .driving: return .ignored(.nothingToReset)
    case .shutDown: return .ignored(.shutDown)
    case .emergencyStopped(let stop): confirmation = stop.confirmation
    case .fault(let fault): confirmation = fault.confirmation
    }
    guard confirmation.isConfirmed || !Mechanism.resetNeedsOff.acts else { return .ignored(.stopNotConfirmed) }
    if Mechanism.resetNeedsRest.acts, let held = lastNonZeroCommand, now < held + settings.failsafeTimeout {
      return .ignored(.stickNotAtZero)
    }
    state = .stopped(Standstill(reason: .reset(by: source), confirmation: .confirmed, holder: nil))
    return RobotAction(.stop)
  }
}

/// Whether a command counts as one of the controlling source.
enum Hearing {
  case heard
  /// The command counts and is the first one after the sender's clock was set.
  case heardByNewClock
  case ignored(IgnoreReason)
}

extension Holder {
  /// Checks a command from `source`. A command that counts feeds the failsafe.
  @_noLocks @_noAllocation
  mutating func hear(_ timestamp: SenderTimestamp?, from source: ControlSource, at now: TickInstant) -> Hearing {
    guard source.isSame(as: self.source) || !Mechanism.oneController.acts else { return .ignored(.notController) }
    switch clock.hear(timestamp, at: now) {
    case .outOfPlace(let reason): return .ignored(reason)
    case .inPlace:
      lastCommand = now
      return .heard
    case .clockWasSet:
      lastCommand = now
      return .heardByNewClock
    }
  }
}
