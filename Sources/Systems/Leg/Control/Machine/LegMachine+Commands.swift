import Tactus
import Wire

extension LegMachine {
  /// The reason why an arm would be refused now, or `nil` if it would be accepted.
  public var armRefusal: LegIgnoreReason? {
    @_noLocks @_noAllocation get {
      switch state {
      case .disarmed: isBatteryEmpty ? .lowBattery : nil
      case .armed: .alreadyArmed
      case .fault: .inFault
      case .emergencyStopped: .emergencyStopped
      case .shutDown: .shutDown
      }
    }
  }

  @_noLocks @_noAllocation
  mutating func arm(at now: TickInstant) -> LegAction {
    if let refusal = armRefusal { return .ignored(refusal) }
    guard case .disarmed(let off) = state else { return .ignored(.alreadyArmed) }
    error = .none
    lastCommand = now
    state = .armed(.waiting(off))
    return LegAction(.none)
  }

  /// Disarms the leg, on a command or because of a new connection.
  @_noLocks @_noAllocation
  mutating func disarm() -> LegAction {
    switch state {
    case .disarmed, .armed, .fault:
      forget()
      state = .disarmed(.pending)
      return LegAction(.off)
    case .emergencyStopped: return LegAction(.off, .ignored(.emergencyStopped))
    case .shutDown: return LegAction(.off, .ignored(.shutDown))
    }
  }

  @_noLocks @_noAllocation
  mutating func set(_ pulse: PulseWidth, at now: TickInstant, feeds: Bool) -> LegAction {
    let output: ArmedOutput
    switch state {
    case .disarmed(let off) where !Mechanism.armFirst.acts: output = .waiting(off)
    case .disarmed: return .ignored(.notArmed)
    case .fault: return .ignored(.inFault)
    case .emergencyStopped: return .ignored(.emergencyStopped)
    case .shutDown: return .ignored(.shutDown)
    case .armed(let current): output = current
    }
    if feeds || !Mechanism.sequenceNeedsSender.acts { lastCommand = now }
    let target = Mechanism.pulseLimits.acts ? pulse.clamped(from: settings.lowest, to: settings.highest) : pulse
    if !target.isSame(as: pulse) { hasClamped = true }
    var motion: LegMotion
    switch output {
    case .released(let place, _) where place.isSame(as: target): return LegAction(.none)
    case .waiting: motion = LegMotion(at: target, now: now)
    // The servo is assumed to be where it was released, or near it, so the motion begins there and keeps to the slew.
    case .released(let place, _): motion = LegMotion(at: place, now: now)
    case .pulse(let current): motion = current
    }
    motion.aim(at: target, slew: settings.slewMicrosecondsPerSecond, now: now)
    state = .armed(.pulse(motion))
    return LegAction(.pulse(motion.output))
  }

  @_noLocks @_noAllocation
  mutating func emergencyStop() -> LegAction {
    switch state {
    case .disarmed, .armed, .fault:
      error = .unknown
      hasClamped = false
      state = .emergencyStopped(.pending)
      return LegAction(.off)
    case .emergencyStopped: return LegAction(.off)
    case .shutDown: return LegAction(.off, .ignored(.shutDown))
    }
  }

  @_noLocks @_noAllocation
  mutating func reset() -> LegAction {
    switch state {
    case .disarmed, .armed: return .ignored(.nothingToReset)
    case .fault(_, let off), .emergencyStopped(let off):
      guard off.isConfirmed || !Mechanism.resetNeedsOff.acts else { return .ignored(.offNotConfirmed) }
      forget()
      state = .disarmed(.confirmed)
      return LegAction(.none)
    case .shutDown: return .ignored(.shutDown)
    }
  }

  /// Clears the values that telemetry reports about the state that ends.
  @_noLocks @_noAllocation
  private mutating func forget() {
    error = .none
    hasClamped = false
    lastCommand = nil
  }
}
