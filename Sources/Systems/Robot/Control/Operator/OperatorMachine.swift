import Tactus

/// Everything that may happen to the operator side.
public enum OperatorEvent: Sendable, Equatable, BitwiseCopyable {
  /// The controls as they are now.
  case input(OperatorInput)
  case stop
  case emergencyStop
  /// Leave the e-stop here, and ask the robot to leave its own e-stop or fault.
  case reset
  case reply(RobotReply)
  /// A periodic release, 20 Hz: one datagram.
  case tick
  /// Stop the robot and send nothing more.
  case quit
  /// The runtime is stopping: no tick follows.
  case shutdown
}

/// What to send now.
public struct OperatorAction: Sendable, Equatable, BitwiseCopyable {
  /// It is `nil` if there is nothing.
  public var datagram: RobotDatagram?
  /// How often, at once: more than 1 only when no tick follows.
  public var copies: Int
  /// The event was refused because the stick is not at zero.
  public var isRefused: Bool

  @_noLocks @_noAllocation
  init(_ datagram: RobotDatagram?, copies: Int = 1, isRefused: Bool = false) {
    self.datagram = datagram
    self.copies = copies
    self.isRefused = isRefused
  }
}

/// The robot's operator side: what an app sends, and what it knows about the other end.
///
/// One datagram a tick, so that the robot's failsafe sees a live sender; nothing here is needed for the robot's safety. An operator
/// whose stick has not been touched, or who is refused because another drives, does not stop the robot by joining or leaving.
public struct OperatorMachine: Sendable, Equatable, BitwiseCopyable {
  /// Without a reply for this long the connection counts as lost.
  public static var lostAfter: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(1_000_000_000) }
  }
  /// A stop is sent this often: one datagram may be lost.
  static var stopRepeats: Int {
    @_noLocks @_noAllocation get { 3 }
  }

  public private(set) var state = OperatorState.driving
  public private(set) var input = OperatorInput.rest
  public private(set) var heard: HeardReply?
  private let wallClockAtStart: Int64
  private var start: TickInstant?
  /// A command of ours may move the robot, or was meant to stop it: the robot is stopped when the stick is let go and at the
  /// end. Not while another drives it: a zero of ours would stop that one.
  private var mustStop = false
  /// By the newest reply.
  private var isRefused = false

  /// `wallClockAtStart`: microseconds since 1970 when the first event comes. Read once; datagrams are stamped with it plus
  /// the time that has passed, so that a stepped wall clock does not put our commands out of order.
  @_noLocks @_noAllocation
  public init(wallClockAtStart: Int64) { self.wallClockAtStart = wallClockAtStart }

  @_noLocks @_noAllocation
  public mutating func step(_ event: OperatorEvent, at now: TickInstant) -> OperatorAction {
    if case nil = start { start = now }
    switch event {
    case .input(let new): input = new
    case .tick: return send()
    case .reply(let reply): hear(reply, at: now)
    case .stop:
      mustStop = true
      if case .driving = state { state = .stopped(stopsLeft: Self.stopRepeats) }
      if case .stopped = state { state = .stopped(stopsLeft: Self.stopRepeats) }
    case .emergencyStop:
      mustStop = true
      switch state {
      case .driving, .stopped:
        state = .emergencyStopped
        return RobotDatagram.emergencyStop.now
      case .emergencyStopped: return RobotDatagram.emergencyStop.now
      case .quitting, .finished: break
      }
    case .reset: return reset()
    case .quit:
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

  /// The datagram of a tick.
  @_noLocks @_noAllocation
  private mutating func send() -> OperatorAction {
    switch state {
    case .driving:
      let speeds = input.speeds
      if speeds.isZero { return rest }
      if !isRefused { mustStop = true }
      return RobotDatagram.drive(speeds).now
    case .stopped(let left):
      if left > 0 {
        state = .stopped(stopsLeft: left - 1)
        return RobotDatagram.stop.now
      }
      if input.speeds.isZero { state = .driving }
      return rest
    case .emergencyStopped: return RobotDatagram.emergencyStop.now
    case .quitting(let left):
      state = left > 1 ? .quitting(stopsLeft: left - 1) : .finished
      return RobotDatagram.stop.now
    case .finished: return OperatorAction(nil)
    }
  }

  /// The datagram of a stick at rest: zeros, which keep control, or with nothing to stop only a question.
  private var rest: OperatorAction {
    @_noLocks @_noAllocation get { (mustStop ? RobotDatagram.drive(.zero) : RobotDatagram.query).now }
  }

  /// One reset for one press, never repeated by itself: a repetition could clear an e-stop that somebody else pulled in
  /// the meantime.
  @_noLocks @_noAllocation
  private mutating func reset() -> OperatorAction {
    switch state {
    case .quitting, .finished: return OperatorAction(nil)
    case .driving, .stopped, .emergencyStopped:
      guard input.speeds.isZero else { return OperatorAction(nil, isRefused: true) }
      state = .driving
      return RobotDatagram.reset.now
    }
  }

  /// Takes a reply that is newer than the newest so far. Its echo is the instant at which we sent the question, so that
  /// nothing has to be remembered; one from the future is not ours.
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

  /// The echo of a datagram sent now: microseconds since the start.
  @_noLocks @_noAllocation
  public func echo(at now: TickInstant) -> UInt64 { UInt64(clamping: microseconds(at: now)) }

  /// The timestamp of a datagram sent now, in microseconds since 1970.
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

extension RobotDatagram {
  fileprivate var now: OperatorAction {
    @_noLocks @_noAllocation get { OperatorAction(self) }
  }
}
