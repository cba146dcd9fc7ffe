@_spi(FromOutside) import Conversions
import Tactus

/// The guard's state machine: it decides what to do when the watched program is silent, hangs, has ended, sends faulty heartbeats
/// or is back. It uses no descriptor and no clock.
///
///     watching ──late, a loop hangs, fault──▶ writing ──confirmed──▶ holding ──a time-out later──▶ writing
///        ▲                                      │  ▲                    │
///        │                                   failed │ pause              │
///        │                                      ▼  │                    │
///        │                                    retrying                  │
///        └──good heartbeat──────────────(from retrying)─────────────────┘
///
///     any but finished ──closed──▶ writing(death) ──confirmed──▶ finished
///
/// A dismissal finishes the machine in every state, since the program sends it only after its own stop was confirmed. A heartbeat
/// is good if it has the next number, lies in the window, and reports no watched loop as overdue.
public struct GuardMachine: Sendable, Equatable {
  /// The reason why the safe state is written.
  public enum Cause: Sendable, Hashable {
    /// The program exited or was killed: its end of the socket closed without a dismissal.
    case death
    /// No heartbeat came for the timeout, so the program hangs or is stopped.
    case lapse
    /// Heartbeats come, but this loop has made no progress for the timeout.
    case hang(loop: Int)
    /// A heartbeat was invalid.
    case fault(HeartbeatFault)
    /// The program requested the write.
    case asked
  }

  /// The state of the guard.
  public enum State: Sendable, Hashable {
    /// The heartbeats are good, or none is overdue yet.
    case watching
    /// The safe state is being written. `attempt` counts from 1.
    case writing(Cause, attempt: Int)
    /// The last attempt has failed, and the next is due at this instant.
    case retrying(Cause, attempt: Int, at: TickInstant)
    /// The outputs are safe, and the program is alive but not under control. The safe state is written again after every further timeout.
    case holding(Cause, until: TickInstant)
    /// The guard process ends.
    case finished
  }

  /// A message to the guard, or the result of its writes.
  public enum Event: Sendable, Hashable {
    /// A heartbeat arrived, whether it is good or not.
    case heartbeat(Heartbeat)
    /// A message arrived that cannot be decoded.
    case malformed
    /// The program requests the safe state immediately.
    case asked
    /// The program begins to drive its outputs. From now on it has no longer than the timeout for its first heartbeat.
    case begun
    /// The program has stopped cleanly.
    case dismissed
    /// The program has closed its end of the socket.
    case closed
    /// No message has come by the instant of `wait`, or by any other instant.
    case nothing
    /// Every safe-state write was acknowledged.
    case confirmed
    /// At least one safe-state write has failed.
    case failed
  }

  /// The next action of the guard process.
  public enum Action: Sendable, Hashable {
    /// The guard must wait for a message until this instant.
    case wait(until: TickInstant)
    /// The guard must write the safe state, then call `step` with `confirmed` or `failed`.
    case write
    /// The guard process must end with the given exit status.
    case finish(status: Int)
  }

  /// The window of time in which the next heartbeat must come.
  public let window: HeartbeatWindow
  /// The present state of the guard.
  public private(set) var state = State.watching
  /// The newest heartbeat, whether it is good or not.
  private var last: Heartbeat?
  /// The instant at which the newest good heartbeat was sent.
  private var heard: TickInstant
  private var watched: UInt64 = 0
  /// The instant of the last progress of each watched loop, by its number.
  private var advanced = [TickInstant](repeating: .zero, count: 64)

  /// The number of attempts after which the guard gives up once the program has died, which takes about a minute. A program that is
  /// started later must not find an old guard that stops its motors.
  public static let attemptsAfterDeath = 170

  /// Creates a machine in the state `watching`.
  ///
  /// - Parameter now: the start of the window in which the first heartbeat is due.
  public init(window: HeartbeatWindow, at now: TickInstant) {
    self.window = window
    heard = now
  }

  /// Decides what to do after `event`, at an instant of the clock that also stamps the heartbeats.
  public mutating func step(_ event: Event, at now: TickInstant) -> Action {
    switch (state, event) {
    case (.finished, _): return .finish(status: 0)
    case (_, .dismissed): return finish(status: 0)
    case (.writing(let cause, _), .confirmed): return confirmed(cause, at: now)
    case (.writing(.death, Self.attemptsAfterDeath...), .failed): return finish(status: 1)
    case (.writing(let cause, let attempt), .failed):
      return rest(
        .retrying(
          cause, attempt: attempt, at: Mechanism.guardRetries.acts ? now + Self.pause(after: attempt) : .distantFuture),
        at: now)
    // These pairs are impossible: a write is answered before any other message, and only if it was requested.
    case (.writing, _), (_, .confirmed), (_, .failed): preconditionFailure("\(event) in \(state)")
    case (_, .nothing): return check(at: now)
    case (.retrying(.death, _, _), _): return rest(state, at: now)
    case (_, .closed): return Mechanism.guardOnDeath.acts ? write(.death) : finish(status: 0)
    case (_, .asked): return write(.asked)
    case (_, .begun):
      if last == nil, now < heard { heard = now }
      return rest(state, at: now)
    case (_, .malformed): return trouble(.fault(.malformed), at: now)
    case (_, .heartbeat(let heartbeat)): return receive(heartbeat, at: now)
    }
  }

  // MARK: Heartbeats

  private mutating func receive(_ heartbeat: Heartbeat, at now: TickInstant) -> Action {
    let fault = fault(of: heartbeat, at: now)
    let isLate = Mechanism.guardOnSilence.acts && heartbeat.sent - heard > window.longest
    if last.map({ heartbeat.number > $0.number }) ?? true { last = heartbeat }
    if let fault { return trouble(.fault(fault), at: now) }
    heard = heartbeat.sent
    for loop in 0..<64 where heartbeat.watched >> UInt64(clamping: loop) & 1 != 0 {
      let bit = UInt64(1) << UInt64(clamping: loop)
      if (heartbeat.advanced | ~watched) & bit != 0 { advanced[loop] = heartbeat.sent }
    }
    watched = heartbeat.watched
    // The heartbeat was late, and the guard ran too late to notice it in time.
    if isLate, state == .watching { return write(.lapse) }
    if let loop = slowest, heartbeat.sent - advanced[loop] > window.longest {
      return trouble(.hang(loop: loop), at: now)
    }
    return good(at: now)
  }

  private func fault(of heartbeat: Heartbeat, at now: TickInstant) -> HeartbeatFault? {
    let isInTime = heartbeat.sent >= heartbeat.due && heartbeat.sent <= now
    if Mechanism.heartbeatEarly.acts, !isInTime { return .early }
    guard let last else { return nil }
    if heartbeat.number == last.number { return Mechanism.heartbeatRepeated.acts ? .repeated : nil }
    if Mechanism.heartbeatOrder.acts, heartbeat.number != last.number &+ 1 { return .outOfOrder }
    let isTooSoon = heartbeat.due - last.due < window.shortest || heartbeat.sent < last.sent
    if Mechanism.heartbeatEarly.acts, isTooSoon { return .early }
    if Mechanism.heartbeatForgetful.acts, watched & ~heartbeat.watched != 0 { return .forgetful }
    return nil
  }

  /// The number of the watched loop whose last progress is the oldest, or `nil` if no loop is watched.
  private var slowest: Int? {
    guard Mechanism.guardOnHang.acts else { return nil }
    var (slowest, left): (Int?, UInt64) = (nil, watched)
    while left != 0 {
      let loop = left.trailingZeroBitCount
      left &= left - 1
      if slowest.map({ advanced[loop] < advanced[$0] }) ?? true { slowest = loop }
    }
    return slowest
  }

  private mutating func good(at now: TickInstant) -> Action {
    switch state {
    case .holding, .retrying(.lapse, _, _), .retrying(.hang, _, _): state = .watching
    default: break
    }
    return rest(state, at: now)
  }

  private mutating func trouble(_ cause: Cause, at now: TickInstant) -> Action {
    // In every other state the safe state has been written already, and is written again.
    state == .watching ? write(cause) : rest(state, at: now)
  }

  // MARK: Time

  /// The instant at which the program, or one of its loops, is overdue, and the cause that is reported then.
  private var end: (at: TickInstant, cause: Cause) {
    if let loop = slowest, advanced[loop] < heard { return (advanced[loop] + window.longest, .hang(loop: loop)) }
    return (Mechanism.guardOnSilence.acts ? heard + window.longest : .distantFuture, .lapse)
  }

  private mutating func check(at now: TickInstant) -> Action {
    switch state {
    case .watching where now >= end.at: write(end.cause)
    case .holding(let cause, let until) where now >= until: write(cause)
    case .retrying(let cause, let attempt, let at) where now >= at: write(cause, attempt: attempt + 1)
    default: rest(state, at: now)
    }
  }

  private mutating func rest(_ state: State, at now: TickInstant) -> Action {
    self.state = state
    switch state {
    case .holding(_, let until), .retrying(_, _, let until): return .wait(until: until)
    default: return .wait(until: end.at)
    }
  }

  private mutating func confirmed(_ cause: Cause, at now: TickInstant) -> Action {
    switch cause {
    case .death: finish(status: 0)
    // The program is under control, since it has asked for the write.
    case .asked: rest(.watching, at: now)
    case .lapse, .hang, .fault:
      rest(.holding(cause, until: Mechanism.guardRepeats.acts ? now + window.longest : .distantFuture), at: now)
    }
  }

  private mutating func write(_ cause: Cause, attempt: Int = 1) -> Action {
    state = .writing(cause, attempt: attempt)
    return .write
  }

  private mutating func finish(status: Int) -> Action {
    state = .finished
    return .finish(status: status)
  }

  /// Returns the pause before the next attempt: 20 ms in the first second, then half a second.
  private static func pause(after attempt: Int) -> Nanoseconds { .milliseconds(attempt < 50 ? 20 : 500) }
}
