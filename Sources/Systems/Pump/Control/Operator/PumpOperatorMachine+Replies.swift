@_spi(FromOutside) import Conversions
import Tactus

extension PumpOperatorMachine {
  @_noLocks @_noAllocation
  mutating func hear(_ reply: PumpReply, at now: TickInstant, _ action: inout PumpOperatorAction) {
    guard contact.isUp else { return }
    contact = .answering
    channel.silences = 0
    switch reply {
    case .ok:
      // A second line follows that says which command was accepted, except after a SPEED of the legacy dialect.
      if !namesSpeeds, let speed = speedInFlight { confirm(speed) }
    case .pump(let isOn): hearPump(isOn: isOn, at: now)
    case .speed(let raw):
      namesSpeeds = true
      // A reply with another duty belongs to an earlier SPEED; the reply to the one in flight is still to come.
      if let wanted = speedInFlight, wanted.duty == raw.duty { confirm(raw) }
      if case .on = state { speed = .commanded(raw) }
    case .status(let status): hear(status, at: now)
    case .temperatures(let readings):
      if case .some(.temperature) = channel.inFlight?.command { channel.inFlight = nil }
      hear(readings, at: now)
    case .manual(let isOn):
      if isOn {
        seenOn(by: .manual, at: now)
      } else if case .starting = state {
        // The button wins, whether the ON arrives before its press or after it.
        channel.forgetDriving()
        source = .manual
        state = .off(.pending)
      } else {
        seenOff(by: .manual)
      }
      channel.wantsStatus = true
    case .error(let tag): hear(tag, at: now, &action)
    case .remark(.skinTooHot(let reading)):
      if case .fault(.overheat(nil), let off) = state { state = .fault(.overheat(reading.temperature), off) }
    case .remark(.maximumRuntime): break
    }
  }

  /// The speed of the SPEED command that awaits its reply, or `nil` if no SPEED command awaits one.
  private var speedInFlight: PumpSpeed? {
    @_noLocks @_noAllocation get {
      guard let inFlight = channel.inFlight, case .speed(let speed) = inFlight.command else { return nil }
      return speed
    }
  }

  @_noLocks @_noAllocation
  private mutating func confirm(_ raw: PumpSpeed) {
    channel.inFlight = nil
    channel.wantsStatus = true
    if case .on = state { speed = .commanded(raw) }
  }

  @_noLocks @_noAllocation
  private mutating func hearPump(isOn: Bool, at now: TickInstant) {
    let isLateStart = isOn && channel.startsUnanswered > 0
    if isLateStart { channel.startsUnanswered &-= 1 }
    if !isOn { channel.owesOff = false }
    switch (channel.inFlight?.command, isOn) {
    case (.some(.on), true):
      channel.inFlight = nil
      seenOn(by: .app, at: now)
    case (.some(.off), false):
      channel.inFlight = nil
      seenOff(by: nil)
    // The reply belongs to an earlier command; the reply to the one in flight is still to come.
    case (.some(.on), false), (.some(.off), true): return
    default:
      switch (state, isOn) {
      // The reply belongs to a repeated OFF; the ON is still to be sent.
      case (.starting, false): break
      // The reply belongs to an ON that an OFF has revoked; it is not known which of the two the pump obeyed last.
      case (.off(.confirmed), true) where isLateStart: state = .off(.pending)
      case (_, true): seenOn(by: .app, at: now)
      case (_, false): seenOff(by: .app)
      }
    }
    channel.wantsStatus = true
  }

  @_noLocks @_noAllocation
  private mutating func hear(_ next: PumpStatus, at now: TickInstant) {
    status = next
    statusAt = now
    if case .some(.status) = channel.inFlight?.command {
      channel.inFlight = nil
      // The replies to all earlier commands have arrived or are lost.
      channel.startsUnanswered = 0
    }
    switch next.state {
    case .on: seenOn(by: nil, at: now)
    case .off:
      // While the pump starts, the report was sent before the ON arrived.
      if case .starting = state {} else { seenOff(by: nil) }
    case .error:
      // The readings are handled first, because they may give the cause of the error.
      hear(next.temperatures, at: now)
      seenError()
    case nil: break
    }
    if case .on = state {
      if let percent = next.percent { hear(percent: percent) }
      if let minutes = next.runtimeMinutes {
        governor.claim(atLeast: .seconds(Int64(minutes) * 60), at: now)
        if governor.left(at: now).count == 0 { fail(.runLimit, isOff: false) }
      }
    }
    hear(next.temperatures, at: now)
  }

  /// Handles a reported percentage. The commanded duty is kept if it matches the percentage: 180 and 178 are both 70 %.
  @_noLocks @_noAllocation
  private mutating func hear(percent: UInt8) {
    if case .commanded(let raw) = speed, raw.percent == percent { return }
    speed = .reported(percent: percent)
  }

  @_noLocks @_noAllocation
  private mutating func seenOn(by who: PumpControlSource?, at now: TickInstant) {
    switch state {
    case .unknown, .off(.confirmed), .starting:
      // A pump that ran when it was last seen keeps its source. If its button has started it although the run limit is used up, it is
      // turned off at once below.
      if case .pumping = governor.phase, case .none = who {} else { source = who }
      state = .on(since: now)
      speed = nil
      governor.observe(isPumping: true, at: now)
      if governor.left(at: now).count == 0 { fail(.runLimit, isOff: false) }
    case .on: if case .some(.manual) = who { source = .manual }
    // The OFF is on its way or will be repeated.
    case .off(.pending), .fault(_, .pending), .emergencyStopped(.pending), .shutDown(.pending): break
    case .fault(let fault, .confirmed): state = .fault(fault, .pending)
    case .emergencyStopped(.confirmed): state = .emergencyStopped(.pending)
    case .shutDown(.confirmed): state = .shutDown(.pending)
    }
  }

  /// Handles a report that the pump is off. `who` is `nil` if the source is unknown or already follows from the state.
  @_noLocks @_noAllocation
  private mutating func seenOff(by who: PumpControlSource?) {
    speed = nil
    switch state {
    case .unknown, .on, .starting:
      channel.forgetDriving()
      source = who
      state = .off(.confirmed)
    // The report may have been sent before the OFF arrived, whose reply is still to come.
    case .off(.pending) where channel.owesOff, .fault(_, .pending) where channel.owesOff,
      .emergencyStopped(.pending) where channel.owesOff, .shutDown(.pending) where channel.owesOff:
      break
    case .off(.pending): state = .off(.confirmed)
    case .fault(let fault, .pending): state = .fault(fault, .confirmed)
    case .emergencyStopped(.pending): state = .emergencyStopped(.confirmed)
    case .shutDown(.pending): state = .shutDown(.confirmed)
    case .off(.confirmed), .fault(_, .confirmed), .emergencyStopped(.confirmed), .shutDown(.confirmed): break
    }
  }

  /// Handles a report of the pump's error state, in which it does not run; an OFF ends that state.
  @_noLocks @_noAllocation
  private mutating func seenError() {
    speed = nil
    // The report may be older than the OFF that is on its way.
    if case .off(.pending) = state { return }
    fail(.pumpError, isOff: true)
  }

  @_noLocks @_noAllocation
  private mutating func hear(_ tag: PumpErrorTag, at now: TickInstant, _ action: inout PumpOperatorAction) {
    switch tag {
    case .safetyShutoff:
      governor.claim(atLeast: governor.limit, at: now)
      fail(.safetyShutoff, isOff: true)
    case .overheat:
      // A pump that goes on cooling reports the overheat, too.
      switch settings.overheatAction {
      case .stop: failByReading(.overheat(nil))
      case .keepCooling: channel.wantsStatus = true
      }
    case .sensorFault: failByReading(.sensor(nil, nil))
    case .startFailed:
      if case .some(.on) = channel.inFlight?.command { channel.inFlight = nil }
      if channel.startsUnanswered > 0 { channel.startsUnanswered &-= 1 }
      fail(.startFailed, isOff: true)
    case .notRunning, .invalidSpeed:
      guard let inFlight = channel.inFlight, case .speed = inFlight.command else { return }
      channel.inFlight = nil
      channel.wantsStatus = true
      action.failure = PumpCommandFailure(inFlight.command, .refused(tag))
    case .unknownCommand, .commandTooLong:
      // The command was changed on its way, so it is sent again at once.
      guard let inFlight = channel.inFlight else { return }
      channel.inFlight = nil
      giveUp(inFlight, .refused(tag), &action)
    case .other: channel.wantsStatus = true
    }
  }

  // MARK: temperatures

  /// Handles a report that the pump has stopped because of its sensors. Their readings are requested at once.
  @_noLocks @_noAllocation
  private mutating func failByReading(_ fault: PumpFault) {
    fail(fault, isOff: true)
    awaitsReading = true
    channel.wantsTemperatures = true
  }

  @_noLocks @_noAllocation
  private mutating func hear(_ readings: PumpTemperatures, at now: TickInstant) {
    if readings.water.isAbsent, readings.skin.isAbsent, readings.single.isAbsent { return }
    temperatures = readings
    temperaturesAt = now
    if answersFault { awaitsReading = false }
    if let (sensor, temperature) = implausible {
      fail(.sensor(sensor, temperature), isOff: false)
    } else if isTooHot, case .stop = settings.overheatAction {
      fail(.overheat(hottest), isOff: false)
    }
  }

  /// Whether the last readings explain the fault: a skin temperature after an overheat, and a reading of every sensor after a sensor fault.
  private var answersFault: Bool {
    @_noLocks @_noAllocation get {
      switch state {
      case .fault(.overheat, _):
        if case .some = hottest { return true }
        return false
      case .fault(.sensor, _):
        return !temperatures.water.isUnknown && !temperatures.skin.isUnknown && !temperatures.single.isUnknown
      case .unknown, .off, .starting, .on, .fault, .emergencyStopped, .shutDown: return true
      }
    }
  }

  /// The first sensor whose reading is implausible, with its temperature; `nil` if all are plausible.
  var implausible: (PumpSensor, PumpTemperature)? {
    @_noLocks @_noAllocation get {
      guard let range = settings.plausibility, Mechanism.plausibility.acts else { return nil }
      if let water = temperatures.water.temperature, !range.allows(water) { return (.water, water) }
      if let skin = temperatures.skin.temperature, !range.allows(skin) { return (.skin, skin) }
      if let single = temperatures.single.temperature, !range.allows(single) { return (.single, single) }
      return nil
    }
  }

  /// The temperature of the skin, or the single temperature of the legacy dialect.
  private var hottest: PumpTemperature? {
    @_noLocks @_noAllocation get {
      if let skin = temperatures.skin.temperature { return skin }
      return temperatures.single.temperature
    }
  }

  var isTooHot: Bool {
    @_noLocks @_noAllocation get {
      guard let limit = settings.overheatAbove, let hottest, Mechanism.skinLimit.acts else { return false }
      return limit < hottest
    }
  }
}
