import Tactus
import TactusGuard

/// A whole daemon in simulated time: the loops of its systems, the supervisor's heartbeats, the guard's machine and its writes, kills and
/// restarts.
///
/// Deterministic: what happens at one instant happens in a fixed order, loops first, then the guard, the supervisor, the history.
struct SwarmWorld {
  /// What failed, of which part.
  struct Failure: Hashable {
    let part: String
    let failure: SwarmChecks.Failure
  }

  /// As the daemon's own: ten heartbeats a second, and a time-out of a second (`safety.watchdog_timeout`).
  private static let beatPeriod = Nanoseconds.milliseconds(100)
  private static let window = HeartbeatWindow(shortest: .milliseconds(50), longest: .seconds(1))
  /// From the daemon's death to the guard's write; measured at 5…17 ms.
  private static let deathNoticed = Nanoseconds.milliseconds(10)

  let parts: [any SwarmPart]
  private(set) var now = TickInstant.zero
  private var guardian: GuardMachine?
  private var guardWakes = TickInstant.distantFuture
  private var watch = LoopWatch()
  private var nextBeat = TickInstant.zero
  private var beats: UInt64 = 0
  private var frozenUntil = TickInstant.zero
  private var isAlive = false
  /// When the daemon starts again.
  private var startsAt = TickInstant.zero
  /// When the guard sees that the daemon is dead.
  private var deathSeenAt = TickInstant.distantFuture

  init(_ parts: [any SwarmPart]) { self.parts = parts }

  /// Plays a history to its end, or to the first failure.
  mutating func play(_ history: SwarmHistory) throws(RuntimeError) -> Failure? {
    var next = 0
    while true {
      let due = next < history.actions.count ? history.actions[next].at : .distantFuture
      now = max(now, [history.end, due, guardWakes, isAlive ? nextBeat : startsAt, deathSeenAt].min()!)
      for part in parts { part.run(until: now) }
      if let failure { return failure }
      if isAlive, parts.contains(where: \.hasDied) { kill(for: .milliseconds(500)) }
      if deathSeenAt <= now {
        deathSeenAt = .distantFuture
        tellGuard(.closed)
      }
      if guardWakes <= now { tellGuard(.nothing) }
      if !isAlive, startsAt <= now { try start() }
      if isAlive, nextBeat <= now { beat() }
      while next < history.actions.count, history.actions[next].at <= now {
        apply(history.actions[next])
        next += 1
      }
      // An action may fail at the very end, which is where a shortened history ends.
      if now >= history.end { return failure }
    }
  }

  /// Of the first part that has one.
  private var failure: Failure? {
    for part in parts {
      if let failure = part.checks.failure { return Failure(part: part.name, failure: failure) }
    }
    return nil
  }

  private mutating func apply(_ action: SwarmAction) {
    guard action.part == "daemon" else {
      for part in parts where part.name == action.part { part.apply(action) }
      return
    }
    switch action.verb {
    case "kill": kill(for: .milliseconds(action[0]))
    case "freeze": freeze(for: .milliseconds(action[0]))
    case "estop": if isAlive { for part in parts { part.emergencyStop(at: now) } }
    case "reset": if isAlive { for part in parts { part.reset(at: now) } }
    default: break
    }
  }

  // MARK: The daemon's life

  private mutating func start() throws(RuntimeError) {
    isAlive = true
    startsAt = .distantFuture
    deathSeenAt = .distantFuture
    // The new guard takes the place of one that is still at work.
    guardian = GuardMachine(window: Self.window, at: now)
    guardWakes = now + Self.window.longest
    watch = LoopWatch()
    beats = 0
    nextBeat = now
    for part in parts {
      try part.start(at: now)
      for (version, period) in part.heartbeats { watch.add(version, period: period) }
    }
  }

  private mutating func kill(for span: Nanoseconds) {
    guard isAlive else { return }
    isAlive = false
    watch = LoopWatch()
    for part in parts { part.kill(at: now) }
    deathSeenAt = now + Self.deathNoticed
    startsAt = now + max(span, Self.deathNoticed + .milliseconds(1))
    frozenUntil = .zero
  }

  /// SIGSTOP, then SIGCONT: loops and supervisor stand still, the guard does not.
  private mutating func freeze(for span: Nanoseconds) {
    guard isAlive, now >= frozenUntil else { return }
    frozenUntil = now + span
    nextBeat = max(nextBeat, frozenUntil)
    for part in parts { part.freeze(at: now, for: span) }
  }

  // MARK: Supervisor and guard

  private mutating func beat() {
    beats += 1
    let heartbeat = Heartbeat(
      number: beats, due: nextBeat, sent: now, watched: watch.all, advanced: watch.look(at: now))
    nextBeat = nextBeat + Self.beatPeriod
    tellGuard(.heartbeat(heartbeat))
  }

  private mutating func tellGuard(_ event: GuardMachine.Event) {
    guard var machine = guardian else { return }
    var action = machine.step(event, at: now)
    while case .write = action {
      let outcomes = parts.map { $0.makeSafe(at: now) }
      action = machine.step(outcomes.allSatisfy { $0 } ? .confirmed : .failed, at: now)
    }
    if case .wait(let until) = action {
      guardWakes = max(until, now + .nanoseconds(1))
    } else {
      guardWakes = .distantFuture
    }
    guardian = machine
  }
}
