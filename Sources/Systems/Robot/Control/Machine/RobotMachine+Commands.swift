import Tactus
import Wire

// Commands: who is heard, and what then.

extension RobotMachine {
  /// A command other than zero: only from the controlling source, or from anyone while control is free.
  @_noLocks @_noAllocation
  mutating func drive(
    _ speeds: WheelSpeeds, _ timestamp: SenderTimestamp?, from source: ControlSource, startsFromNow: Bool,
    at now: TickInstant
  ) -> RobotAction {
    lastNonZeroCommand = now
    lastNonZeroSource = source
    switch state {
    case .stopped(let standstill) where standstill.reason.isExternalStop: return .ignored(.stickNotAtZero)
    case .stopped(var standstill):
      var holder: Holder
      if let current = standstill.holder {
        holder = current
        let hearing = holder.hear(timestamp, from: source, at: now)
        standstill.holder = holder
        state = .stopped(standstill)
        if case .ignored(let reason) = hearing { return .ignored(reason) }
        // Heard, so that holding the stick does not end the ownership and with it the need to let go.
        if case .stoppedBy = standstill.reason, Mechanism.letGoAfterStop.acts { return .ignored(.stickNotAtZero) }
      } else {
        holder = Holder(source: source, timestamp, at: now)
      }
      let credit = startsFromNow ? Nanoseconds(0) : settings.tickPeriod
      state = .driving(
        Control(holder, target: speeds, at: now, credit: credit, failures: standstill.confirmation.failures))
      return refresh(at: now)
    case .driving(var control):
      let hearing = control.holder.hear(timestamp, from: source, at: now)
      switch hearing {
      case .ignored(let reason):
        state = .driving(control)
        return .ignored(reason)
      case .heardByNewClock where Mechanism.restBetweenClocks.acts:
        // By way of zero: nobody knows how old the speeds on the motors are by now, nor who says so.
        control = Control(
          control.holder, target: speeds, at: now, credit: settings.tickPeriod, failures: control.failures)
        control.restsUntil = now + Self.restBetweenClocks
      case .heard, .heardByNewClock: control.target = speeds
      }
      state = .driving(control)
      return refresh(at: now)
    case .emergencyStopped: return .ignored(.emergencyStopped)
    case .fault: return .ignored(.inFault)
    case .shutDown: return .ignored(.shutDown)
    }
  }

  /// A stop or a command of (0, 0): honoured from anyone, however old.
  ///
  /// From the controlling source it counts as heard when its stamp is in place. From someone else it does not take control away: the
  /// source that was driving keeps it, and must bring its stick to zero before it may drive on. A command (not a stop) takes
  /// control that is free.
  @_noLocks @_noAllocation
  mutating func halt(
    _ timestamp: SenderTimestamp?, from source: ControlSource, takesControl: Bool, at now: TickInstant
  ) -> RobotAction {
    switch state {
    case .stopped(var standstill):
      if standstill.reason.isExternalStop {
        // Somebody else still holds a stick.
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

  /// The motors stand, and who held a stick must let go of it: control is nobody's until then.
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

  /// Whether a stick other than this source's was held within the last failsafe timeout.
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

  /// Leaves an e-stop or a fault, when the motors are known to stand and no stick is held.
  @_noLocks @_noAllocation
  mutating func reset(by source: ControlSource, at now: TickInstant) -> RobotAction {
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

/// Whether a command counts as the holder's.
enum Hearing {
  case heard
  /// The first one after the holder's clock was set.
  case heardByNewClock
  case ignored(IgnoreReason)
}

extension Holder {
  /// A command from `source`: it feeds the failsafe when it counts.
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
