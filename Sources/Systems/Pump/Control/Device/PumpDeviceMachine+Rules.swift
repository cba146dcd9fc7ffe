import Tactus
import Wire

extension PumpDeviceMachine {
  @_noLocks @_noAllocation
  mutating func obey(_ command: PumpCommand, at now: TickInstant, _ action: inout PumpDeviceAction) {
    heardAt = now
    switch command {
    case .on: turnOn(at: now, &action)
    case .off: turnOff(&action)
    case .speed(let speed):
      guard case .on = state else {
        action.refusal = .notRunning
        return action.replies.append(.error(.notRunning))
      }
      state = .on(speed)
      pot.hold()
      action.output = .run(speed)
      action.replies.append(.ok)
      action.replies.append(.speed(speed))
    case .status: action.replies.append(.status(status(at: now)))
    case .temperature: action.replies.append(.temperatures(readings))
    }
  }

  @_noLocks @_noAllocation
  func refuse(_ error: PumpLineError, _ action: inout PumpDeviceAction) {
    switch error {
    case .empty: break
    case .tooLong: action.replies.append(.error(.commandTooLong))
    case .malformed, .outOfRange, .trailing: action.replies.append(.error(.invalidSpeed))
    case .unknownCommand, .unknownReply, .unknownState, .unterminated: action.replies.append(.error(.unknownCommand))
    }
  }

  @_noLocks @_noAllocation
  private mutating func turnOn(at now: TickInstant, _ action: inout PumpDeviceAction) {
    switch state {
    case .off where mayStart(at: now): start(at: now, &action)
    case .on:
      if settings.onRestartsLimit {
        governor.reset(at: now)
        state = .on(settings.initialSpeed)
        action.output = .run(settings.initialSpeed)
      }
    case .off, .error, .emergencyStopped, .shutDown:
      action.refusal = reasonNotToStart(at: now)
      return action.replies.append(.error(.startFailed))
    }
    action.replies.append(.ok)
    action.replies.append(.pump(isOn: true))
  }

  /// Returns whether the pump may start: not while a sensor is implausible, the skin is too warm, or the run limit is used up.
  @_noLocks @_noAllocation
  private func mayStart(at now: TickInstant) -> Bool {
    if isImplausible { return false }
    if isTooHot, case .stop = settings.overheatAction { return false }
    return governor.left(at: now).count > 0
  }

  @_noLocks @_noAllocation
  private func reasonNotToStart(at now: TickInstant) -> PumpIgnoreReason {
    switch state {
    case .off, .on: governor.left(at: now).count > 0 ? .causePersists : .mustRest
    case .error: .inFault
    case .emergencyStopped: .emergencyStopped
    case .shutDown: .shutDown
    }
  }

  @_noLocks @_noAllocation
  private mutating func start(at now: TickInstant, _ action: inout PumpDeviceAction) {
    state = .on(settings.initialSpeed)
    statusAt = now
    heardAt = now
    pot.hold()
    action.output = .run(settings.initialSpeed)
  }

  @_noLocks @_noAllocation
  mutating func endRun(after time: Nanoseconds, at now: TickInstant, _ action: inout PumpDeviceAction) {
    if case .on = state {
      if governor.left(at: now) < time { action.refusal = .beyondLimit } else { runEnds = now + time }
    } else {
      action.refusal = .notRunning
    }
  }

  /// Turns the pump off, which also ends an error.
  @_noLocks @_noAllocation
  mutating func turnOff(_ action: inout PumpDeviceAction) {
    switch state {
    case .off, .on, .error: state = .off(.pending)
    case .emergencyStopped, .shutDown: break
    }
    action.output = .off
    action.replies.append(.ok)
    action.replies.append(.pump(isOn: false))
  }

  /// Handles a press of the button: turns the pump on if it is off, and off otherwise.
  @_noLocks @_noAllocation
  mutating func press(at now: TickInstant, _ action: inout PumpDeviceAction) {
    switch state {
    case .off:
      guard mayStart(at: now) else { return action.replies.append(.error(.startFailed)) }
      start(at: now, &action)
      action.replies.append(.manual(isOn: true))
    case .error where !settings.buttonLeavesError: break
    case .on, .error:
      state = .off(.pending)
      action.output = .off
      action.replies.append(.manual(isOn: false))
    case .emergencyStopped, .shutDown: break
    }
  }

  @_noLocks @_noAllocation
  mutating func turnPot(counts: Int, _ action: inout PumpDeviceAction) {
    var current: PumpSpeed?
    if case .on(let speed) = state { current = speed }
    guard let speed = pot.sample(counts: counts, rule: settings.pot, current: current) else { return }
    state = .on(speed)
    action.output = .run(speed)
  }

  @_noLocks @_noAllocation
  mutating func hear(water: PumpReading, skin: PumpReading, _ action: inout PumpDeviceAction) {
    self.water = water
    self.skin = skin
    if let (sensor, temperature) = implausible { return fail(.sensor(sensor, temperature), &action) }
    guard let temperature = skin.temperature, Mechanism.skinLimit.acts else { return }
    if settings.overheatAbove < temperature {
      switch settings.overheatAction {
      case .stop: fail(.overheat(temperature), &action)
      case .keepCooling:
        if !hasWarned { warn(temperature, &action) }
        hasWarned = true
      }
    } else if temperature.tenths <= settings.overheatAbove.tenths - 10 {
      hasWarned = false
    }
  }

  /// The first sensor whose reading is implausible or missing, with its temperature if there is one; `nil` if all are plausible.
  private var implausible: (PumpSensor, PumpTemperature?)? {
    @_noLocks @_noAllocation get {
      guard let range = settings.plausibility, Mechanism.plausibility.acts else { return nil }
      if !range.allows(water) { return (.water, water.temperature) }
      if !range.allows(skin) { return (.skin, skin.temperature) }
      return nil
    }
  }

  @_noLocks @_noAllocation
  private func warn(_ temperature: PumpTemperature, _ action: inout PumpDeviceAction) {
    action.replies.append(.error(.overheat))
    action.replies.append(.remark(.skinTooHot(.value(temperature))))
  }

  @_noLocks @_noAllocation
  mutating func fail(_ cause: PumpDeviceError, _ action: inout PumpDeviceAction) {
    switch state {
    case .off, .on: stop(for: cause, &action)
    case .error, .emergencyStopped, .shutDown: break
    }
  }

  /// Changes from off or on to the error state and appends the lines that report the error.
  @_noLocks @_noAllocation
  mutating func stop(for cause: PumpDeviceError, _ action: inout PumpDeviceAction) {
    state = Mechanism.faultLatch.acts ? .error(cause, .pending) : .off(.pending)
    action.output = .off
    switch cause {
    case .runLimit:
      action.replies.append(.error(.safetyShutoff))
      action.replies.append(.remark(.maximumRuntime))
    case .overheat(let temperature): warn(temperature, &action)
    case .sensor: action.replies.append(.error(.sensorFault))
    case .silence: action.replies.append(.error(.other(ShortText("LINK_SILENT"))))
    case .output: action.replies.append(.error(.other(ShortText("OUTPUT_FAULT"))))
    case .missedReleases: action.replies.append(.error(.other(ShortText("LOOP_LATE"))))
    case .externalStop: action.replies.append(.error(.other(ShortText("OUTSIDE_STOP"))))
    }
  }

  /// Handles a stop from outside the loop: a running pump enters the error state; any other state remains and its off is written again.
  @_noLocks @_noAllocation
  mutating func externalStop(_ action: inout PumpDeviceAction) {
    action.output = .off
    guard Mechanism.staysStopped.acts else { return }
    switch state {
    case .on: stop(for: .externalStop, &action)
    case .off: state = .off(.pending)
    case .error(let cause, _): state = .error(cause, .pending)
    case .emergencyStopped: state = .emergencyStopped(.pending)
    case .shutDown: state = .shutDown(.pending)
    }
  }

  @_noLocks @_noAllocation
  mutating func outputFailed(_ action: inout PumpDeviceAction) {
    guard Mechanism.outputFault.acts else { return }
    switch state {
    case .off, .on: stop(for: .output, &action)
    case .error(let cause, _): state = .error(cause, .pending)
    case .emergencyStopped: state = .emergencyStopped(.pending)
    case .shutDown: state = .shutDown(.pending)
    }
    action.output = .off
  }

  @_noLocks @_noAllocation
  mutating func emergencyStop(_ action: inout PumpDeviceAction) {
    action.output = .off
    switch state {
    case .off, .on, .error:
      state = .emergencyStopped(.pending)
      action.replies.append(.error(.other(ShortText("EMERGENCY_STOP"))))
    case .emergencyStopped: state = .emergencyStopped(.pending)
    case .shutDown: action.refusal = .shutDown
    }
  }

  @_noLocks @_noAllocation
  mutating func reset(_ action: inout PumpDeviceAction) {
    switch state {
    case .off, .on: action.refusal = .nothingToReset
    case .error(_, .pending) where Mechanism.resetNeedsOff.acts,
      .emergencyStopped(.pending) where Mechanism.resetNeedsOff.acts:
      action.refusal = .offNotConfirmed
    case .error(.overheat, .confirmed) where isTooHot: action.refusal = .causePersists
    case .error(.sensor, .confirmed) where isImplausible: action.refusal = .causePersists
    case .error, .emergencyStopped: state = .off(.confirmed)
    case .shutDown: action.refusal = .shutDown
    }
  }

  private var isImplausible: Bool {
    @_noLocks @_noAllocation get {
      if case .some = implausible { return true }
      return false
    }
  }

  private var isTooHot: Bool {
    @_noLocks @_noAllocation get {
      guard let temperature = skin.temperature else { return false }
      return settings.overheatAbove < temperature
    }
  }
}
