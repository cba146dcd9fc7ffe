import Tactus

/// The rules of the device side of a leg: when there is a pulse, which one, and when it must end.
///
/// The machine only decides. The loop passes every input as an event and applies `LegAction.output` to the servo. The rules are numbered
/// in the folder's README. The code compiles as Embedded Swift, so that it can be a microcontroller's firmware, too.
public struct LegMachine: Sendable, Hashable, BitwiseCopyable {
  public internal(set) var state = LegState.disarmed(.pending)
  public private(set) var settings: LegSettings
  /// The instant at which the last command that fed the deadman arrived since the leg was armed, or `nil` while disarmed.
  public internal(set) var lastCommand: TickInstant?
  /// The last voltage of the battery, or `nil` if there is no sensor or the sensor is silent.
  public internal(set) var battery: Millivolts?
  /// The error that telemetry reports, unless a more urgent one applies.
  var error = LegErrorCode.none
  /// Whether a pulse was clamped without telemetry having reported it yet.
  var hasClamped = false

  /// Creates a disarmed leg. The off is not yet confirmed; the first tick writes it.
  @_noLocks @_noAllocation
  public init(_ settings: LegSettings) { self.settings = settings }

  /// The instant at which the leg must be stepped at the latest: at the end of the deadman or the release of the servo. It is `nil` unless the leg is
  /// armed.
  public var nextDeadline: TickInstant? {
    @_noLocks @_noAllocation get {
      guard case .armed(let output) = state, let deadman = deadman.expiresAt else { return nil }
      guard let release = releaseInstant(output), release < deadman else { return deadman }
      return release
    }
  }

  /// The deadman timer, restarted by the transition to armed and, while armed, by pulses and pings.
  private var deadman: Deadman {
    @_noLocks @_noAllocation get {
      Deadman(timeout: settings.deadmanTimeout, fedAt: Mechanism.deadman.acts ? lastCommand : nil)
    }
  }

  /// Returns the instant at which a servo that stands still is released, or `nil` if it is not to be released.
  @_noLocks @_noAllocation
  private func releaseInstant(_ output: ArmedOutput) -> TickInstant? {
    guard let releaseAfter = settings.releaseAfter, case .pulse(let motion) = output else { return nil }
    return motion.arrival(slew: settings.slewMicrosecondsPerSecond) + releaseAfter
  }

  /// Handles one event at one instant and returns the response. Instants must never decrease. The function never blocks and never allocates.
  ///
  /// The deadman is checked first, whatever the event: at or after `nextDeadline` the pulse ends, even when the event is a command that
  /// comes too late.
  @_noLocks @_noAllocation
  public mutating func step(_ event: LegEvent, at now: TickInstant) -> LegAction {
    var hasEnded = expire(at: now)
    if case .settings(let new) = event {
      apply(new, at: now)
      if expire(at: now) { hasEnded = true }
    }
    var action = respond(to: event, at: now)
    if hasEnded, case .none = action.output { action.output = .off }
    return action
  }

  @_noLocks @_noAllocation
  private mutating func apply(_ new: LegSettings, at now: TickInstant) {
    if case .armed(.pulse(var motion)) = state {
      motion.rebase(at: now, slew: settings.slewMicrosecondsPerSecond)
      state = .armed(.pulse(motion))
    }
    settings = new
  }

  /// Ends a state whose deadline has passed. Returns whether a pulse, or the permission to send one, ended.
  @_noLocks @_noAllocation
  private mutating func expire(at now: TickInstant) -> Bool {
    guard case .armed(let output) = state else { return false }
    if deadman.hasExpired(at: now) {
      error = .deadmanTimeout
      state = Mechanism.faultLatch.acts ? .fault(.silence, .pending) : .disarmed(.pending)
      return true
    }
    guard let release = releaseInstant(output), !(now < release), case .pulse(let motion) = output else { return false }
    state = .armed(.released(at: motion.target, .pending))
    return true
  }

  @_noLocks @_noAllocation
  private mutating func respond(to event: LegEvent, at now: TickInstant) -> LegAction {
    switch event {
    case .order(.command(.arm)): return arm(at: now)
    case .order(.command(.disarm)): return disarm()
    case .order(.linked): return Mechanism.linkDisarms.acts ? disarm() : LegAction(.none)
    case .order(.command(.setServo(let pulse))): return set(pulse, at: now, feeds: true)
    case .steer(let pulse): return set(pulse, at: now, feeds: false)
    case .order(.command(.ping)):
      if case .armed = state { lastCommand = now }
      return LegAction(.none)
    case .order(.invalidFrame):
      error = .invalidCommand
      return .ignored(.notUnderstood)
    case .stale: return .ignored(.stale)
    case .order(.unlinked) where !Mechanism.linkLoss.acts: return LegAction(.none)
    case .order(.unlinked): return fail(.linkLost, says: nil)
    case .order(.emergencyStop): return Mechanism.emergencyStopLatch.acts ? emergencyStop() : disarm()
    case .order(.reset): return reset()
    case .order(.battery(let voltage)): return note(voltage)
    case .order(.clientLeft), .order(.play), .order(.stopSequence), .order(.query): return LegAction(.none)
    case .tick: return refresh(at: now)
    case .settings: return LegAction(.none)
    case .offConfirmed: return confirm()
    case .outputFailed: return outputFailed()
    case .report:
      var action = LegAction(.none)
      action.telemetry = telemetry(at: now)
      hasClamped = false
      return action
    case .externalStop: return externalStop()
    case .missed(let releases): return fail(.missedReleases(releases), says: .unknown)
    case .shutdown:
      if case .shutDown = state { return LegAction(.off) }
      guard Mechanism.shutdownFinal.acts else { return disarm() }
      error = .unknown
      state = .shutDown(.pending)
      return LegAction(.off)
    }
  }

  /// Returns the output in force, brought up to `now`.
  @_noLocks @_noAllocation
  private mutating func refresh(at now: TickInstant) -> LegAction {
    switch state {
    case .armed(.pulse(var motion)):
      motion.advance(to: now, slew: settings.slewMicrosecondsPerSecond)
      state = .armed(.pulse(motion))
      return LegAction(.pulse(motion.output))
    case .armed(.waiting(let off)), .armed(.released(_, let off)), .disarmed(let off), .fault(_, let off),
      .emergencyStopped(let off), .shutDown(let off):
      return LegAction(off.isConfirmed || !Mechanism.offUntilConfirmed.acts ? .none : .off)
    }
  }
}
