import Tactus

/// Every event that the operator side handles.
public enum OperatorEvent: Sendable, Equatable, BitwiseCopyable {
  /// The current state of the controls.
  case input(OperatorInput)
  /// A request of the person.
  case ask(OperatorRequest)
  case reply(RobotReply)
  /// A periodic release, 20 times a second, which sends one datagram.
  case tick
  /// The runtime is shutting down, and no tick follows.
  case shutdown
}

/// The operator machine's response to one event.
public struct OperatorAction: Sendable, Equatable, BitwiseCopyable {
  /// The datagram to send, or `nil` if none is to be sent.
  public var datagram: RobotCommand?
  /// The number of copies to send at once, which is more than 1 only when no tick follows.
  public var copies: Int
  /// Whether the event was refused because the stick is not at zero.
  public var isRefused: Bool

  @_noLocks @_noAllocation
  init(_ datagram: RobotCommand?, copies: Int = 1, isRefused: Bool = false) {
    self.datagram = datagram
    self.copies = copies
    self.isRefused = isRefused
  }
}

/// The rules of the operator side, which decide the commands that an app sends and its knowledge of the robot.
///
/// One datagram is sent at every tick, as a heartbeat for the robot's failsafe; the robot's safety does not depend on this machine. An
/// operator whose stick has not been touched, or who is refused because another drives, does not stop the robot by connecting or
/// disconnecting.
public struct OperatorMachine: Sendable, Equatable, BitwiseCopyable {
  /// The time without a reply after which the connection counts as lost.
  public static var lostAfter: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(1_000_000_000) }
  }
  /// The gap between two ticks after which this program counts as having stood still, as when it is suspended. The robot has
  /// stopped by then.
  static var standstill: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(1_000_000_000) }
  }
  /// The number of times that a stop is sent, in case a datagram is lost.
  static var stopRepeats: Int {
    @_noLocks @_noAllocation get { 3 }
  }

  public private(set) var state = OperatorState.driving
  public private(set) var input = OperatorInput.rest
  public private(set) var heard: HeardReply?
  /// The number of times that the program stood still for a second or more while it was driving. The robot does not drive on
  /// afterwards until the stick has been released.
  public private(set) var standstills: Int64 = 0
  private var lastTick: TickInstant?
  private let wallClockAtStart: Int64
  private var start: TickInstant?
  /// Whether a command sent by this operator may move the robot or was meant to stop it. If so, the robot is stopped when the stick is
  /// released and at the end. False while another operator drives, whom a zero from this one would stop.
  private var mustStop = false
  /// Whether the newest reply refused the command because another source is in control.
  private var isRefused = false

  /// Creates a machine that stamps its datagrams with `wallClockAtStart`, the time in microseconds since 1970 at the
  /// first event, plus the time passed since then. A stepped wall clock therefore does not put commands out of order.
  @_noLocks @_noAllocation
  public init(wallClockAtStart: Int64) { self.wallClockAtStart = wallClockAtStart }

  @_noLocks @_noAllocation
  public mutating func step(_ event: OperatorEvent, at now: TickInstant) -> OperatorAction {
    if case nil = start { start = now }
    switch event {
    case .input(let new): input = new
    case .tick:
      noteStandstill(at: now)
      return send()
    case .reply(let reply): hear(reply, at: now)
    case .ask(.stop):
      mustStop = true
      if case .driving = state { state = .stopped(stopsLeft: Self.stopRepeats) }
      if case .stopped = state { state = .stopped(stopsLeft: Self.stopRepeats) }
    case .ask(.emergencyStop):
      mustStop = true
      switch state {
      case .driving, .stopped:
        state = .emergencyStopped
        return RobotCommand.emergencyStop.now
      case .emergencyStopped: return RobotCommand.emergencyStop.now
      case .quitting, .finished: break
      }
    case .ask(.reset): return reset()
    case .ask(.quit):
      switch state {
      case .driving, .stopped, .emergencyStopped:
        state = mustStop ? .quitting(stopsLeft: Self.stopRepeats) : .finished
      case .quitting, .finished: break
      }
    case .shutdown:
      if case .finished = state { return OperatorAction(nil) }
      state = .finished
      return mustStop ? OperatorAction(.stop, copies: Self.stopRepeats) : OperatorAction(nil)
    }
    return OperatorAction(nil)
  }

  /// Stops if the last tick is too long ago: whoever holds the stick has not seen for a second or more what the robot does.
  @_noLocks @_noAllocation
  private mutating func noteStandstill(at now: TickInstant) {
    if let lastTick, now - lastTick >= Self.standstill, case .driving = state, !input.isRest {
      standstills &+= 1
      state = .stopped(stopsLeft: mustStop ? Self.stopRepeats : 0)
    }
    lastTick = now
  }

  /// Returns the datagram to send at a tick.
  @_noLocks @_noAllocation
  private mutating func send() -> OperatorAction {
    switch state {
    case .driving:
      if input.isRest { return rest }
      if !isRefused { mustStop = true }
      return input.datagram.now
    case .stopped(let left):
      if left > 0 {
        state = .stopped(stopsLeft: left - 1)
        return RobotCommand.stop.now
      }
      if input.isRest { state = .driving }
      return rest
    case .emergencyStopped: return RobotCommand.emergencyStop.now
    case .quitting(let left):
      state = left > 1 ? .quitting(stopsLeft: left - 1) : .finished
      return RobotCommand.stop.now
    case .finished: return OperatorAction(nil)
    }
  }

  /// The datagram for a stick at rest: zero speeds, which keep control, or a query if there is no motion to stop.
  private var rest: OperatorAction {
    @_noLocks @_noAllocation get { (mustStop ? RobotCommand.drive(.zero) : RobotCommand.query).now }
  }

  /// Returns one reset for each press. A reset is never repeated automatically, because a repetition could clear an e-stop that another
  /// operator has triggered in the meantime.
  @_noLocks @_noAllocation
  private mutating func reset() -> OperatorAction {
    switch state {
    case .quitting, .finished: return OperatorAction(nil)
    case .driving, .stopped, .emergencyStopped:
      guard input.isRest else { return OperatorAction(nil, isRefused: true) }
      state = .driving
      return RobotCommand.reset.now
    }
  }

  /// Records a reply if it is newer than the newest so far. The echo is the instant at which the datagram was sent, so no sent datagram
  /// must be remembered; a reply with an echo in the future is ignored.
  @_noLocks @_noAllocation
  private mutating func hear(_ reply: RobotReply, at now: TickInstant) {
    let elapsed = microseconds(at: now)
    guard reply.echo <= UInt64(clamping: elapsed) else { return }
    if let heard, reply.echo <= heard.reply.echo { return }
    isRefused = if let reason = reply.reason { reason == IgnoreReason.notController.shortText } else { false }
    if isRefused { mustStop = false }
    heard = HeardReply(
      reply: reply, at: now, roundTrip: Nanoseconds((elapsed - Int64(clamping: reply.echo)) * 1_000))
  }

  /// Returns the echo of a datagram sent now: microseconds since the start.
  @_noLocks @_noAllocation
  public func echo(at now: TickInstant) -> UInt64 { UInt64(clamping: microseconds(at: now)) }

  /// Returns the timestamp of a datagram sent now, in microseconds since 1970.
  @_noLocks @_noAllocation
  public func timestamp(at now: TickInstant) -> Int64 { wallClockAtStart &+ microseconds(at: now) }

  @_noLocks @_noAllocation
  public func connection(at now: TickInstant) -> Connection {
    guard let heard else { return .noReplyYet }
    let silence = now - heard.at
    return silence.count >= Self.lostAfter.count ? .lost(silence: silence) : .alive(roundTrip: heard.roundTrip)
  }

  @_noLocks @_noAllocation
  private func microseconds(at now: TickInstant) -> Int64 {
    guard let start, now > start else { return 0 }
    return (now - start).count / 1_000
  }
}

extension RobotCommand {
  fileprivate var now: OperatorAction {
    @_noLocks @_noAllocation get { OperatorAction(self) }
  }
}
