import Tactus

/// The robot's control rules, device side: who may drive, how fast, and when the motors must stop.
///
/// Decides and does nothing else. The loop hands it every input as an event and applies `RobotAction.output` to the motors;
/// the events with their instants replay any incident. The rules are numbered in the folder's README.
public struct RobotMachine: Sendable, Hashable, BitwiseCopyable {
  public internal(set) var state: RobotState
  public internal(set) var settings: RobotSettings
  /// When a command other than zero last arrived, obeyed or not: a stick is held somewhere.
  var lastNonZeroCommand: TickInstant?
  /// Who sent it.
  var lastNonZeroSource: ControlSource?

  /// Stopped, the stop not yet confirmed: the first tick writes it.
  ///
  /// - Parameter afterOutsideStop: whether something else has stopped the motors since the last machine drove them, as the guard does when
  ///   the program dies: a stick that is held must come to zero first.
  @_noLocks @_noAllocation
  public init(_ settings: RobotSettings, afterOutsideStop: Bool = false) {
    self.settings = settings
    let mustLetGo = afterOutsideStop && Mechanism.letGoAfterDeath.acts
    state = .stopped(
      Standstill(reason: mustLetGo ? .externalStop : .start, confirmation: .pending(failures: 0), holder: nil))
  }

  /// When the failsafe expires if nothing is heard until then, or when a rest between two clocks ends; nil unless driving.
  public var nextDeadline: TickInstant? {
    @_noLocks @_noAllocation get {
      guard case .driving(let control) = state, let failsafe = failsafe(control.holder).expiresAt else { return nil }
      guard let rest = control.restsUntil, rest < failsafe else { return failsafe }
      return rest
    }
  }

  /// How long the motors are told to stand before a clock that was set is followed: to be seen on the bus, not to be felt.
  static var restBetweenClocks: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(1) }
  }

  /// The failsafe: fed by the holder's accepted commands and by nothing else.
  @_noLocks @_noAllocation
  private func failsafe(_ holder: Holder) -> Deadman {
    Deadman(timeout: settings.failsafeTimeout, fedAt: Mechanism.failsafe.acts ? holder.lastCommand : nil)
  }

  /// One event at one instant. Instants never decrease. Never blocks, never allocates.
  ///
  /// The failsafe is looked at first, whatever the event: at or after `nextDeadline` the answer stops the motors, even
  /// when the event is the command that comes too late. Such a command owns control again and drives from the next step.
  @_noLocks @_noAllocation
  public mutating func step(_ event: RobotEvent, at now: TickInstant) -> RobotAction {
    if case .settings(let new) = event { settings = new }
    let expired = expire(at: now)
    var action = respond(to: event, at: now, startsFromNow: expired)
    if expired { action.output = .stop }
    return action
  }

  @_noLocks @_noAllocation
  private mutating func respond(
    to event: RobotEvent, at now: TickInstant, startsFromNow: Bool
  ) -> RobotAction {
    switch event {
    case .command(let speeds, let timestamp, let source):
      guard speeds.left.value.isFinite, speeds.right.value.isFinite else { return .ignored(.notFinite) }
      if speeds.isZero { return halt(timestamp, from: source, takesControl: true, at: now) }
      return drive(speeds, timestamp, from: source, startsFromNow: startsFromNow, at: now)
    case .stop(let timestamp, let source):
      return halt(timestamp, from: source, takesControl: false, at: now)
    case .emergencyStop(let source):
      guard Mechanism.emergencyStopLatch.acts else {
        return halt(nil, from: source, takesControl: false, at: now)
      }
      return emergencyStop(by: source)
    case .reset(let source):
      return reset(by: source, at: now)
    case .stale(let isDrive):
      if isDrive { lastNonZeroCommand = now }
      return .ignored(.stale)
    case .tick, .settings:
      return refresh(at: now)
    case .driveConfirmed, .driveFailed, .stopConfirmed, .stopFailed:
      return feedback(event)
    case .externalStop:
      return externalStop()
    case .missed(let releases):
      return fail(.missedReleases(releases))
    case .shutdown:
      if case .shutDown = state { return RobotAction(.stop) }
      guard Mechanism.shutdownFinal.acts else {
        state = .stopped(Standstill(reason: .start, confirmation: .pending(failures: failures), holder: nil))
        return RobotAction(.stop)
      }
      state = .shutDown(.pending(failures: failures))
      return RobotAction(.stop)
    }
  }

  /// Takes control from a source that was silent for the failsafe timeout, and ends a rest. True when that stopped a motion.
  @_noLocks @_noAllocation
  private mutating func expire(at now: TickInstant) -> Bool {
    switch state {
    case .driving(var control):
      if failsafe(control.holder).hasExpired(at: now) {
        state = .stopped(
          Standstill(reason: .silence, confirmation: .pending(failures: control.failures), holder: nil))
        return true
      }
      if let rest = control.restsUntil, now >= rest {
        control.restsUntil = nil
        state = .driving(control)
      }
      return false
    case .stopped(var standstill):
      guard let holder = standstill.holder, failsafe(holder).hasExpired(at: now) else { return false }
      standstill.holder = nil
      state = .stopped(standstill)
      return false
    case .emergencyStopped, .fault, .shutDown:
      return false
    }
  }

  /// The output in force, brought up to `now`: written again at every tick, so that a board that forgot it learns it anew.
  @_noLocks @_noAllocation
  mutating func refresh(at now: TickInstant) -> RobotAction {
    guard case .driving(var control) = state, case nil = control.restsUntil else {
      return RobotAction(Mechanism.offUntilConfirmed.acts ? .stop : .none)
    }
    control.ramp(to: now, settings)
    state = .driving(control)
    return RobotAction(.drive(control.output))
  }

  /// Motor writes that failed in a row, whatever they were to write.
  var failures: Int {
    @_noLocks @_noAllocation get {
      switch state {
      case .stopped(let standstill): standstill.confirmation.failures
      case .driving(let control): control.failures
      case .emergencyStopped(let stop): stop.confirmation.failures
      case .fault(let fault): fault.confirmation.failures
      case .shutDown(let confirmation): confirmation.failures
      }
    }
  }
}
