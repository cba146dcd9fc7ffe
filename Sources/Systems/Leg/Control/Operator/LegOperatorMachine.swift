import Tactus
import Wire

/// Every event that the operator side handles.
public enum LegOperatorEvent: Sendable, Hashable, BitwiseCopyable {
  /// A request of the person.
  case ask(LegOperatorRequest)
  /// Sets the pulse that the periodic mode sends.
  case aim(PulseWidth)
  case telemetry(LegTelemetry)
  /// A connection-based link has lost its connection. A link by datagrams never reports this.
  case linkLost
  /// A periodic release, 50 times a second, which sends at most one frame.
  case tick
  /// The runtime is shutting down, and no tick follows.
  case shutdown
}

/// The operator machine's response to one event.
public struct LegOperatorAction: Sendable, Hashable, BitwiseCopyable {
  /// The command to send, or `nil` if none is to be sent.
  public var command: LegCommand?
  /// The number of copies to send at once, which is more than 1 only when no tick follows.
  public var copies: Int
  /// Whether a connection-based link should try to connect. On a link by datagrams the ping that is sent is the attempt.
  public var connects: Bool
  /// Whether the event was refused because the leg is not known to be armed or does not answer.
  public var isRefused: Bool

  @_noLocks @_noAllocation
  init(_ command: LegCommand?, copies: Int = 1, connects: Bool = false, isRefused: Bool = false) {
    self.command = command
    self.copies = copies
    self.connects = connects
    self.isRefused = isRefused
  }
}

/// The rules of the operator side, which decide the commands that an app sends and its knowledge of the leg.
///
/// A leg is armed only by the person's own press, never by a reconnection or a repetition. The leg's safety does not depend on this
/// machine.
public struct LegOperatorMachine: Sendable, Hashable, BitwiseCopyable {
  /// The age of the last command at which a tick sends a ping. At 50 Hz a ping is sent every 40 ms, so that four datagrams in a row may
  /// be lost before a deadman of 200 ms expires. LegCtrl allows 150 ms, which leaves no margin for a single loss.
  public static var pingAfter: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(30_000_000) }
  }
  /// The age at which telemetry counts as stale: the time of three frames.
  public static var staleAfter: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(300_000_000) }
  }
  /// The time without telemetry after which the connection counts as lost.
  public static var lostAfter: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(1_000_000_000) }
  }
  /// The number of times that a disarm is sent, in case a datagram is lost.
  static var disarmRepeats: Int {
    @_noLocks @_noAllocation get { 3 }
  }

  public private(set) var state = LegOperatorState.connecting(LegBackOff(from: TickInstant(nanoseconds: 0)))
  public private(set) var pulse = PulseWidth.middle
  public private(set) var heard: HeardTelemetry?
  /// Whether a ping is sent when nothing else has been sent for `pingAfter`. Without pings, the deadman of a leg that gets no commands
  /// expires.
  private let pingsByItself: Bool
  private var lastSent: TickInstant?
  private var disarmsLeft = 0
  /// Whether telemetry has reported the leg as armed since the last arm or disarm. Only then does a report of another state end the
  /// periodic mode.
  private var wasSeenArmed = false
  /// Whether the leg may be armed, judging by the commands sent and the telemetry received. If it cannot be, no disarm is sent at the end, so that a
  /// fault keeps its cause.
  private var mayBeArmed = false
  /// The instant at which the last arm was sent, as long as telemetry may be older than it; otherwise `nil`.
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
    case .ask(.arm):
      guard case .connected = state else { return refused }
      disarmsLeft = 0
      wasSeenArmed = false
      mayBeArmed = true
      armSent = now
      return LegOperatorAction(.arm)
    case .ask(.disarm): return disarm()
    case .ask(.sendOnce(let pulse)):
      guard isConnected else { return refused }
      return LegOperatorAction(.setServo(pulse))
    case .ask(.ping):
      guard isConnected else { return refused }
      return LegOperatorAction(.ping)
    case .ask(.periodic(let isOn)): return setPeriodic(isOn)
    case .ask(.quit):
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

  /// Returns the frame to send at a tick.
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

  /// Sends a disarm at once and at the next ticks, whether the leg answers or not.
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

  /// Switches the periodic mode. It can be switched on only while the leg answers, and off at any time; without pings the leg's deadman
  /// then expires.
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
      // The periodic mode ends, so that the leg does not move at once after the next arm.
      if wasSeenArmed, case .periodic = state { state = .connected }
      wasSeenArmed = false
    }
    if case .connecting = state { state = .connected }
  }

  /// Returns whether telemetry that arrives now is certain to reflect a command sent at `sent`, which is assumed three frames later.
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
