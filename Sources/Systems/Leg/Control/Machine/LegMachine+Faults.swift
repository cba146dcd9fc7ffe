import Tactus

extension LegMachine {
  /// Enters a fault. `code` is the error for telemetry, or `nil` to keep the present one, as for a lost link, for which the protocol has
  /// no number.
  @_noLocks @_noAllocation
  mutating func fail(_ fault: LegFault, says code: LegErrorCode?) -> LegAction {
    switch state {
    case .disarmed, .armed:
      guard Mechanism.faultLatch.acts else { return disarm() }
      if let code { error = code }
      hasClamped = false
      state = .fault(fault, .pending)
      return LegAction(.off)
    case .fault, .emergencyStopped, .shutDown: return LegAction(.off)
    }
  }

  /// Handles a stop of the pulses from outside the program. A leg that was disarmed stays disarmed, since it drove nothing, and its off
  /// is written again.
  @_noLocks @_noAllocation
  mutating func externalStop() -> LegAction {
    guard Mechanism.staysStopped.acts else { return LegAction(.off) }
    if case .disarmed = state {
      state = .disarmed(.pending)
      return LegAction(.off)
    }
    return fail(.externalStop, says: .unknown)
  }

  /// Handles a failed write. The first cause of a fault is kept, but telemetry reports the failed write.
  @_noLocks @_noAllocation
  mutating func outputFailed() -> LegAction {
    guard Mechanism.outputFault.acts else { return LegAction(.none) }
    switch state {
    case .disarmed, .armed: return fail(.output, says: .i2cFault)
    case .fault(let cause, _):
      error = .i2cFault
      state = .fault(cause, .pending)
    case .emergencyStopped: state = .emergencyStopped(.pending)
    case .shutDown: state = .shutDown(.pending)
    }
    return LegAction(.off)
  }

  @_noLocks @_noAllocation
  mutating func confirm() -> LegAction {
    switch state {
    case .disarmed: state = .disarmed(.confirmed)
    case .fault(let cause, _): state = .fault(cause, .confirmed)
    case .emergencyStopped: state = .emergencyStopped(.confirmed)
    case .shutDown: state = .shutDown(.confirmed)
    case .armed(.waiting): state = .armed(.waiting(.confirmed))
    case .armed(.released(let pulse, _)): state = .armed(.released(at: pulse, .confirmed))
    case .armed(.pulse): return .ignored(.outOfPlace)
    }
    return LegAction(.none)
  }

  @_noLocks @_noAllocation
  mutating func note(_ voltage: Millivolts?) -> LegAction {
    battery = voltage
    guard isBatteryEmpty, case .armed = state else { return LegAction(.none) }
    return fail(.lowBattery, says: .lowBattery)
  }

  var isBatteryEmpty: Bool {
    @_noLocks @_noAllocation get {
      guard let battery, let limits = settings.battery, Mechanism.batteryLimit.acts else { return false }
      return battery < limits.fault
    }
  }

  private var isBatteryLow: Bool {
    @_noLocks @_noAllocation get {
      guard let battery, let limits = settings.battery else { return false }
      return battery < limits.warning
    }
  }

  /// Returns the telemetry at this instant.
  @_noLocks @_noAllocation
  func telemetry(at now: TickInstant) -> LegTelemetry {
    let shown: LegTelemetry.State
    switch state {
    case .disarmed: shown = .disarmed
    case .armed: shown = .armed
    case .fault, .emergencyStopped, .shutDown: shown = .fault
    }
    var code = error
    if hasClamped {
      code = .invalidCommand
    } else if case .none = error, isBatteryLow {
      code = .lowBattery
    }
    return LegTelemetry(
      state: shown, error: code, lastCommandAgeMilliseconds: ageMilliseconds(at: now), battery: reportedBattery)
  }

  /// Returns the age of the last command in milliseconds, at most 65535.
  @_noLocks @_noAllocation
  private func ageMilliseconds(at now: TickInstant) -> UInt16 {
    guard let lastCommand else { return 0 }
    let age = (now - lastCommand).count / 1_000_000
    return age > 65_535 ? 65_535 : UInt16(truncatingIfNeeded: age)
  }

  private var reportedBattery: Millivolts {
    @_noLocks @_noAllocation get {
      if settings.reportsStubBattery { return Millivolts(7400) }
      guard let battery else { return Millivolts(0) }
      return battery
    }
  }
}
