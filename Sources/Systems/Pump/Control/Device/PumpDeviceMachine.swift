import Tactus
import TactusControl

/// The rules of the pump's device side. They are those of the original firmware, so that a Raspberry Pi can replace its Arduino.
///
/// The machine only decides and performs no input or output; its rules are numbered in the folder's README.
public struct PumpDeviceMachine: Sendable, Hashable, BitwiseCopyable {
  public internal(set) var state = PumpDeviceState.off(Mechanism.offFirst.acts ? .pending : .confirmed)
  public private(set) var settings: PumpDeviceSettings
  public internal(set) var governor: PumpGovernor
  public internal(set) var water = PumpReading.absent
  public internal(set) var skin = PumpReading.absent
  /// The instant at which the last valid command was received.
  public internal(set) var heardAt: TickInstant?
  /// The instant at which the run is to end because it was ordered for a time, or `nil`.
  public internal(set) var runEnds: TickInstant?
  var statusAt: TickInstant?
  var button: Debouncer
  var pot = PumpPot()
  /// Whether the warning that the skin is too warm has been sent.
  var hasWarned = false

  /// Creates a machine whose pump is off but not yet confirmed off, so that the first tick writes the off.
  ///
  /// - Parameter governor: the run limit with the time already used, or `nil` if the pump has rested.
  @_noLocks @_noAllocation
  public init(_ settings: PumpDeviceSettings, governor: PumpGovernor? = nil) {
    self.settings = settings
    button = Debouncer(stableFor: settings.debounce)
    if let governor { self.governor = governor } else { self.governor = settings.governor() }
  }

  /// The earliest of: the end of the run, the next STATUS, the silence limit, and the instant at which the button's contact counts as settled.
  public var nextDeadline: TickInstant? {
    @_noLocks @_noAllocation get {
      var first = button.settlesAt
      guard case .on = state else { return first }
      if let end = runEnds, first.map({ end < $0 }) ?? true { first = end }
      if let end = governor.expiresAt, first.map({ end < $0 }) ?? true { first = end }
      if let due = nextStatus, first.map({ due < $0 }) ?? true { first = due }
      if let end = silenceEnd, first.map({ end < $0 }) ?? true { first = end }
      return first
    }
  }

  private var nextStatus: TickInstant? {
    @_noLocks @_noAllocation get {
      guard let statusAt else { return nil }
      return statusAt + settings.statusPeriod
    }
  }

  private var silenceEnd: TickInstant? {
    @_noLocks @_noAllocation get {
      guard let limit = settings.silenceLimit, let heardAt, Mechanism.silenceLimit.acts else { return nil }
      return heardAt + limit
    }
  }

  /// Processes one event at one instant. Instants never decrease. The function never blocks and never allocates.
  ///
  /// Limits are checked first: at or after `nextDeadline` the pump stops, even if the event is a command that would have extended the run.
  @_noLocks @_noAllocation
  public mutating func step(_ event: PumpDeviceEvent, at now: TickInstant) -> PumpDeviceAction {
    var action = PumpDeviceAction()
    expire(at: now, &action)
    if case .settings(let new) = event {
      settings = new
      governor.change(limit: new.runLimit, rest: new.rest, at: now)
      expire(at: now, &action)
    }
    if action.replies.count == 0 || !Self.isQuiet(event) { respond(to: event, at: now, &action) }
    if !state.isOn { runEnds = nil }
    // Until the output has accepted an off, the motor may run on.
    governor.observe(isPumping: state.isOn || (governor.isPumping && !state.isSafe), at: now)
    return action
  }

  /// Returns whether an event is a tick, which does nothing beyond checking the limits.
  @_noLocks @_noAllocation
  private static func isQuiet(_ event: PumpDeviceEvent) -> Bool {
    if case .tick = event { return true }
    return false
  }

  @_noLocks @_noAllocation
  private mutating func expire(at now: TickInstant, _ action: inout PumpDeviceAction) {
    guard case .on = state else { return }
    if let end = runEnds, !(now < end) {
      state = .off(.pending)
      action.output = .off
      action.replies.append(.pump(isOn: false))
    } else if let end = governor.expiresAt, !(now < end) {
      stop(for: .runLimit, &action)
    } else if let end = silenceEnd, !(now < end) {
      stop(for: .silence, &action)
    }
  }

  @_noLocks @_noAllocation
  private mutating func respond(to event: PumpDeviceEvent, at now: TickInstant, _ action: inout PumpDeviceAction) {
    switch event {
    case .command(let command): obey(command, at: now, &action)
    case .invalidCommand(let error): refuse(error, &action)
    case .button(let isPressed):
      if button.step(isPressed, at: now), button.isActive { press(at: now, &action) }
    case .pot(let counts): turnPot(counts: counts, &action)
    case .temperatures(let water, let skin): hear(water: water, skin: skin, &action)
    case .runTime(let time): endRun(after: time, at: now, &action)
    case .emergencyStop: if Mechanism.emergencyStopLatch.acts { emergencyStop(&action) } else { turnOff(&action) }
    case .reset: reset(&action)
    case .tick: refresh(at: now, &action)
    case .settings: break
    case .offConfirmed: confirm()
    case .outputFailed: outputFailed(&action)
    case .missed(let releases): fail(.missedReleases(releases), &action)
    case .externalStop: externalStop(&action)
    case .shutdown:
      if case .on = state { action.replies.append(.pump(isOn: false)) }
      state = Mechanism.shutdownFinal.acts ? .shutDown(.pending) : .off(.pending)
      action.output = .off
    }
  }

  @_noLocks @_noAllocation
  private mutating func refresh(at now: TickInstant, _ action: inout PumpDeviceAction) {
    switch state {
    case .on(let speed):
      action.output = .run(speed)
      if let due = nextStatus, !(now < due) {
        // The lines stay in phase unless a whole period was missed.
        statusAt = now < due + settings.statusPeriod ? due : now
        action.replies.append(.status(status(at: now)))
      }
    case .off(.pending), .error(_, .pending), .emergencyStopped(.pending), .shutDown(.pending):
      if Mechanism.offUntilConfirmed.acts { action.output = .off }
    case .off(.confirmed), .error(_, .confirmed), .emergencyStopped(.confirmed), .shutDown(.confirmed): break
    }
  }

  @_noLocks @_noAllocation
  private mutating func confirm() {
    switch state {
    case .off: state = .off(.confirmed)
    case .on: break
    case .error(let cause, _): state = .error(cause, .confirmed)
    case .emergencyStopped: state = .emergencyStopped(.confirmed)
    case .shutDown: state = .shutDown(.confirmed)
    }
  }

  /// Returns the STATUS line of this instant.
  @_noLocks @_noAllocation
  func status(at now: TickInstant) -> PumpStatus {
    var status = PumpStatus(temperatures: readings)
    switch state {
    case .off: status.state = .off
    case .on(let speed):
      status.state = .on
      status.percent = speed.percent
      status.runtimeMinutes = minutes(governor.spent(at: now))
      status.remainingMinutes = minutes(governor.left(at: now))
    case .error, .emergencyStopped, .shutDown: status.state = .error
    }
    return status
  }

  var readings: PumpTemperatures {
    @_noLocks @_noAllocation get {
      switch settings.dialect {
      case .firmware: PumpTemperatures(water: water, skin: skin)
      case .legacy: PumpTemperatures(single: skin)
      }
    }
  }

  @_noLocks @_noAllocation
  private func minutes(_ time: Nanoseconds) -> UInt16 {
    UInt16(truncatingIfNeeded: time.count / 60_000_000_000)
  }
}
