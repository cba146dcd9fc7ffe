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
    switch state {
    case .stopped(var standstill):
      var holder = standstill.holder ?? Holder(source: source, lastCommand: now, lastTimestamp: nil)
      if let objection = holder.objection(to: timestamp, from: source) { return .ignored(objection) }
      holder.hear(timestamp, at: now)
      if case (.stoppedBy, .some) = (standstill.reason, standstill.holder) {
        // Heard, so that holding the stick does not end the ownership and with it the need to let go.
        standstill.holder = holder
        state = .stopped(standstill)
        return .ignored(.stickNotAtZero)
      }
      let credit = startsFromNow ? Nanoseconds(0) : settings.tickPeriod
      state = .driving(
        Control(holder, target: speeds, at: now, credit: credit, failures: standstill.confirmation.failures))
      return refresh(at: now)
    case .driving(var control):
      if let objection = control.holder.objection(to: timestamp, from: source) { return .ignored(objection) }
      control.holder.hear(timestamp, at: now)
      control.target = speeds
      state = .driving(control)
      return refresh(at: now)
    case .emergencyStopped: return .ignored(.emergencyStopped)
    case .fault: return .ignored(.inFault)
    case .shutDown: return .ignored(.shutDown)
    }
  }

  /// A stop or a command of (0, 0): honoured from anyone, however old.
  ///
  /// From the controlling source it counts as heard when it is newer. From someone else it does not take control away: the
  /// source that was driving keeps it, and must bring its stick to zero before it may drive on. A command (not a stop) takes
  /// control that is free.
  @_noLocks @_noAllocation
  mutating func halt(
    _ timestamp: SenderTimestamp?, from source: ControlSource, takesControl: Bool, at now: TickInstant
  ) -> RobotAction {
    switch state {
    case .stopped(var standstill):
      if var holder = standstill.holder {
        if case nil = holder.objection(to: timestamp, from: source) {
          holder.hear(timestamp, at: now)
          standstill.holder = holder
          standstill.reason = .commanded
        }
      } else if takesControl {
        standstill.holder = Holder(source: source, lastCommand: now, lastTimestamp: timestamp)
        standstill.reason = .commanded
      }
      state = .stopped(standstill)
    case .driving(var control):
      if case nil = control.holder.objection(to: timestamp, from: source) { control.holder.hear(timestamp, at: now) }
      state = .stopped(
        Standstill(
          reason: control.holder.source.isSame(as: source) ? .commanded : .stoppedBy(source),
          confirmation: .pending(failures: control.failures), holder: control.holder))
    case .emergencyStopped, .fault, .shutDown:
      break
    }
    return RobotAction(.stop)
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
    guard confirmation.isConfirmed else { return .ignored(.stopNotConfirmed) }
    if let held = lastNonZeroCommand, now < held + settings.failsafeTimeout { return .ignored(.stickNotAtZero) }
    state = .stopped(Standstill(reason: .reset(by: source), confirmation: .confirmed, holder: nil))
    return RobotAction(.stop)
  }
}

extension Holder {
  /// Why a command does not count as this holder's; nil when it does.
  @_noLocks @_noAllocation
  func objection(to timestamp: SenderTimestamp?, from source: ControlSource) -> IgnoreReason? {
    guard source.isSame(as: self.source) else { return .notController }
    guard let timestamp, let lastTimestamp else { return nil }
    switch timestamp.order(after: lastTimestamp) {
    case .newer: return nil
    case .older: return .older
    case .duplicate: return .duplicate
    }
  }

  @_noLocks @_noAllocation
  mutating func hear(_ timestamp: SenderTimestamp?, at now: TickInstant) {
    lastCommand = now
    if let timestamp { lastTimestamp = timestamp }
  }
}
