import Tactus
import Wire

/// Everything that may happen to the operator side.
public enum LegOperatorEvent: Sendable, Hashable, BitwiseCopyable {
  /// Once for one press; never by itself.
  case arm
  case disarm
  /// The pulse that the periodic mode sends.
  case aim(PulseWidth)
  /// One pulse command, now.
  case send(PulseWidth)
  case ping
  case periodic(Bool)
  case telemetry(LegTelemetry)
  /// The link below knows connections and has none any more. A datagram link never says so.
  case linkLost
  /// A periodic release, 50 Hz: at most one frame.
  case tick
  /// Disarm the leg, if it may be armed, and send nothing more.
  case quit
  /// The runtime is stopping: no tick follows.
  case shutdown
}

/// What to send now.
public struct LegOperatorAction: Sendable, Hashable, BitwiseCopyable {
  /// It is `nil` if there is nothing.
  public var command: LegCommand?
  /// How often, at once: more than 1 only when no tick follows.
  public var copies: Int
  /// A link that knows connections should try to connect. With a datagram link the ping beside it is the attempt.
  public var connects: Bool
  /// The event was refused: the leg is not known to be armed, or does not answer.
  public var isRefused: Bool

  @_noLocks @_noAllocation
  init(_ command: LegCommand?, copies: Int = 1, connects: Bool = false, isRefused: Bool = false) {
    self.command = command
    self.copies = copies
    self.connects = connects
    self.isRefused = isRefused
  }
}

/// The leg's operator side: what an app sends, and what it knows about the other end.
///
/// Nothing here arms a leg but the person's own press: not a reconnection, not a repetition. The leg's safety needs none of it.
public struct LegOperatorMachine: Sendable, Hashable, BitwiseCopyable {
  /// A ping is due when the last command is so old, at a tick: every 40 ms at 50 Hz, so that four datagrams in a row may be
  /// lost before a deadman of 200 ms expires. LegCtrl allows 150 ms, which leaves no margin for one.
  public static var pingAfter: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(30_000_000) }
  }
  /// Telemetry older than three frames is stale.
  public static var staleAfter: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(300_000_000) }
  }
  /// Without telemetry for so long the connection counts as lost.
  public static var lostAfter: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(1_000_000_000) }
  }
  /// A disarm is sent this often: one datagram may be lost.
  static var disarmRepeats: Int {
    @_noLocks @_noAllocation get { 3 }
  }

  public private(set) var state = LegOperatorState.connecting(LegBackOff(from: TickInstant(nanoseconds: 0)))
  public private(set) var pulse = PulseWidth.middle
  public private(set) var heard: HeardTelemetry?
  /// Sends a ping when nothing else has been sent for `pingAfter`; without it a leg that is not fed trips.
  private let pingsByItself: Bool
  private var lastSent: TickInstant?
  private var disarmsLeft = 0
  /// Telemetry has said "armed" since the last arm or disarm: only then does "not armed" end the periodic mode.
  private var wasSeenArmed = false
  /// By what was sent and heard: a leg that is not is left at the end as it is, a fault with its cause.
  private var mayBeArmed = false
  /// The last arm, as long as telemetry may be older than it.
  private var armSent: TickInstant?

  @_noLocks @_noAllocation
  public init(pingsByItself: Bool = true) { self.pingsByItself = pingsByItself }

  @_noLocks @_noAllocation
  public mutating func step(_ event: LegOperatorEvent, at now: TickInstant) -> LegOperatorAction {
    if let heard, (now - heard.at).count >= Self.lostAfter.count { loseLink(at: now) }
    let action = respond(to: event, at: now)
    if case .some = action.command { lastSent = now }
    return action
  }

  @_noLocks @_noAllocation
  private mutating func respond(to event: LegOperatorEvent, at now: TickInstant) -> LegOperatorAction {
    switch event {
    case .aim(let next): pulse = next
    case .telemetry(let telemetry): hear(telemetry, at: now)
    case .linkLost: loseLink(at: now)
    case .tick: return tick(at: now)
    case .arm:
      guard case .connected = state else { return refused }
      disarmsLeft = 0
      wasSeenArmed = false
      mayBeArmed = true
      armSent = now
      return LegOperatorAction(.arm)
    case .disarm: return disarm()
    case .send(let pulse):
      guard isConnected else { return refused }
      return LegOperatorAction(.setServo(pulse))
    case .ping:
      guard isConnected else { return refused }
      return LegOperatorAction(.ping)
    case .periodic(let isOn): return setPeriodic(isOn)
    case .quit:
      switch state {
      case .connecting, .connected, .periodic:
        state = mayBeArmed ? .quitting(disarmsLeft: Self.disarmRepeats) : .finished
      case .quitting, .finished: break
      }
    case .shutdown:
      if case .finished = state { return LegOperatorAction(nil) }
      state = .finished
      return mayBeArmed ? LegOperatorAction(.disarm, copies: Self.disarmRepeats) : LegOperatorAction(nil)
    }
    return LegOperatorAction(nil)
  }

  /// The frame of a tick.
  @_noLocks @_noAllocation
  private mutating func tick(at now: TickInstant) -> LegOperatorAction {
    switch state {
    case .connecting(var backOff):
      if disarmsLeft > 0 { return repeatDisarm() }
      guard !(now < backOff.next) else { return LegOperatorAction(nil) }
      backOff.tried(at: now)
      state = .connecting(backOff)
      return LegOperatorAction(.ping, connects: true)
    case .connected:
      if disarmsLeft > 0 { return repeatDisarm() }
      guard pingsByItself, let lastSent, (now - lastSent).count >= Self.pingAfter.count else {
        return LegOperatorAction(nil)
      }
      return LegOperatorAction(.ping)
    case .periodic: return LegOperatorAction(.setServo(pulse))
    case .quitting(let left):
      state = left > 1 ? .quitting(disarmsLeft: left - 1) : .finished
      return LegOperatorAction(.disarm)
    case .finished: return LegOperatorAction(nil)
    }
  }

  /// Sent at once and at the next ticks, whether anybody answers or not.
  @_noLocks @_noAllocation
  private mutating func disarm() -> LegOperatorAction {
    switch state {
    case .quitting, .finished: return LegOperatorAction(nil)
    case .periodic: state = .connected
    case .connecting, .connected: break
    }
    wasSeenArmed = false
    disarmsLeft = Self.disarmRepeats
    return repeatDisarm()
  }

  @_noLocks @_noAllocation
  private mutating func repeatDisarm() -> LegOperatorAction {
    disarmsLeft &-= 1
    return LegOperatorAction(.disarm)
  }

  /// On only while somebody answers. Off is always possible; the leg then trips, unless pings feed it.
  @_noLocks @_noAllocation
  private mutating func setPeriodic(_ isOn: Bool) -> LegOperatorAction {
    switch state {
    case .connected:
      if isOn { state = .periodic }
    case .periodic:
      if !isOn { state = .connected }
    case .connecting, .quitting, .finished:
      if isOn { return refused }
    }
    return LegOperatorAction(nil)
  }

  @_noLocks @_noAllocation
  private mutating func hear(_ telemetry: LegTelemetry, at now: TickInstant) {
    heard = HeardTelemetry(telemetry, at: now)
    switch telemetry.state {
    case .armed:
      wasSeenArmed = true
      mayBeArmed = true
    case .disarmed, .fault:
      if wasSeenArmed || isOlderThanTelemetry(armSent, at: now) {
        mayBeArmed = false
        armSent = nil
      }
      // The next arm must not find the leg moving at once.
      if wasSeenArmed, case .periodic = state { state = .connected }
      wasSeenArmed = false
    }
    if case .connecting = state { state = .connected }
  }

  /// Whether telemetry that comes now knows of a command sent at `sent`: three frames later it does.
  @_noLocks @_noAllocation
  private func isOlderThanTelemetry(_ sent: TickInstant?, at now: TickInstant) -> Bool {
    guard let sent else { return true }
    return (now - sent).count >= Self.staleAfter.count
  }

  @_noLocks @_noAllocation
  private mutating func loseLink(at now: TickInstant) {
    heard = nil
    wasSeenArmed = false
    switch state {
    case .connected, .periodic: state = .connecting(LegBackOff(from: now))
    case .connecting, .quitting, .finished: break
    }
  }

  private var isConnected: Bool {
    @_noLocks @_noAllocation get {
      switch state {
      case .connected, .periodic: true
      case .connecting, .quitting, .finished: false
      }
    }
  }

  private var refused: LegOperatorAction {
    @_noLocks @_noAllocation get { LegOperatorAction(nil, isRefused: true) }
  }

  @_noLocks @_noAllocation
  public func telemetryAge(at now: TickInstant) -> LegTelemetryAge {
    guard let heard else { return .nothingYet }
    let age = now - heard.at
    return age.count >= Self.staleAfter.count ? .stale(age) : .fresh(age)
  }
}
