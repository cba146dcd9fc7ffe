@_spi(FromOutside) import Conversions
import Tactus
import TactusDaemon
import TactusGuard

/// A complete daemon in simulated time: the loops of its systems, the supervisor's heartbeats, its guard, kills and restarts.
///
/// Deterministic: events of the same instant happen in a fixed order, first the loops, then the guard, the supervisor and the history.
struct SwarmWorld {
  /// A failed check, with the name of its part.
  struct Failure: Hashable {
    let part: String
    let failure: SwarmChecks.Failure
  }

  /// The period of the heartbeats, ten a second as in the production daemon.
  private static let beatPeriod = Nanoseconds.milliseconds(100)
  /// The time from the daemon's death to the guard's write; measured at 5…17 ms.
  private static let deathNoticed = Nanoseconds.milliseconds(10)
  /// The time from the end of both processes to the stop hook's write; measured at 142 ms.
  private static let hookStarts = Nanoseconds.milliseconds(200)

  let parts: [any SwarmPart]
  private let mechanisms: SwarmMechanisms
  private let cover = SwarmCover()
  private(set) var now = TickInstant.zero
  /// The number of times that each verb of the history was carried out while the daemon lived, by part; 0 for a verb that was not.
  private(set) var done: [String: [String: Int]] = [:]
  private var guardian: SwarmGuard?
  /// The times that a daemon which stopped in order has noted for the next start.
  private var ends: [TickInstant] = []
  /// The reload in progress, or `nil` if no reload is in progress.
  private var reload: ReloadRun?
  private var watch = LoopWatch()
  private var nextBeat = TickInstant.zero
  private var frozenUntil = TickInstant.zero
  private var isAlive = false
  /// The instant at which the daemon starts again.
  private var startsAt = TickInstant.zero
  /// The instant at which the guard notices that the daemon is dead.
  private var deathSeenAt = TickInstant.distantFuture
  /// The instant at which the stop hook writes.
  private var hookAt = TickInstant.distantFuture
  /// Whether the emergency stop of each part was latched when the last daemon ended, as noted in /run; by the part's index.
  private var isStopped: [Bool]
  /// The number of publications of each part's loops when the daemon started, by the part's index, or `nil` if the part has no loops.
  private var publishedBefore: [UInt64?]

  init(_ parts: [any SwarmPart], _ mechanisms: SwarmMechanisms = SwarmMechanisms()) {
    (self.parts, self.mechanisms) = (parts, mechanisms)
    isStopped = Array(repeating: false, count: parts.count)
    publishedBefore = Array(repeating: nil, count: parts.count)
  }

  /// Plays a history to its end, or to the first failure, which is returned; returns `nil` if every invariant held.
  ///
  /// An action on a single part does not run the other parts; they are run when the daemon or its guard is due.
  mutating func play(_ history: SwarmHistory) throws(RuntimeError) -> Failure? {
    var next = 0
    for action in history.actions { done[action.part, default: [:]][action.verb, default: 0] = 0 }
    while true {
      let due = next < history.actions.count ? history.actions[next].at : .distantFuture
      var wakes = min(history.end, guardian?.wakesAt ?? .distantFuture, deathSeenAt, hookAt)
      wakes = min(wakes, isAlive ? nextBeat : startsAt)
      for part in parts { wakes = min(wakes, part.wakesAt) }
      if due < wakes, let part = alone(history.actions[next]) {
        now = max(now, due)
        part.run(until: now)
        if part.hasFailed { return failure }
        if !part.hasDied {
          apply(history.actions[next])
          next += 1
          continue
        }
      }
      now = max(now, min(due, wakes))
      cover.refusesResets = guardian?.refusesResets ?? false
      var (hasFailed, hasDied) = (false, false)
      for part in parts {
        part.run(until: now)
        hasFailed = hasFailed || part.hasFailed
        hasDied = hasDied || part.hasDied
      }
      if hasFailed { return failure }
      if isAlive, hasDied { kill(for: .milliseconds(500)) }
      advanceGuard()
      if !isAlive, startsAt <= now { try start() }
      if isAlive, nextBeat <= now { beat() }
      while next < history.actions.count, history.actions[next].at <= now {
        apply(history.actions[next])
        next += 1
      }
      // Actions at the very end of a history are carried out, because a shortened history ends with the one that fails.
      if now >= history.end { return failure }
    }
  }

  /// Returns the part that an action concerns, or `nil` if the action or the part may affect other parts.
  private func alone(_ action: SwarmAction) -> (any SwarmPart)? {
    for part in parts where part.name == action.part { return part.wakesAt == .distantFuture ? part : nil }
    return nil
  }

  /// The failure of the first part that has one, or `nil` if no part has failed.
  private var failure: Failure? {
    for part in parts where part.hasFailed {
      if let failure = part.checks.failure { return Failure(part: part.name, failure: failure) }
    }
    return nil
  }

  private mutating func apply(_ action: SwarmAction) {
    if isAlive { done[action.part]?[action.verb]? += 1 }
    guard action.part == "daemon" else {
      // The service refuses resets while no guard can be started.
      if ["ask-reset", "late-reset"].contains(action.verb), guardian?.refusesResets ?? false { return }
      for part in parts where part.name == action.part { part.apply(action) }
      return
    }
    let span = Nanoseconds.milliseconds(action[0])
    switch action.verb {
    case "kill": kill(for: span)
    case "stop": stop(for: span)
    case "kill-both":
      guard isAlive else { return }
      guardian?.kill(at: now)
      kill(for: span)
    case "freeze": freeze(for: span)
    case "guard-kill": if isAlive { guardian?.kill(at: now) }
    case "guard-hang": if isAlive { guardian?.hang(at: now) }
    case "guard-resume": if isAlive { guardian?.resume(at: now) }
    case "loop-hangs": if isAlive { guardian?.hangLoop(until: now + span) }
    case "guard-fails": if isAlive { guardian?.failStarts(until: now + span, slowly: action[1] > 0) }
    case "reload": if isAlive, reload == nil { startReload(action[0]) }
    case "estop": if isAlive { stopAll() }
    case "reset":
      if isAlive, !(guardian?.refusesResets ?? false) { for part in parts { part.reset(at: now) } }
    default: break
    }
  }

  /// Starts a reload of the file with this number, as if it had been saved and a reload requested.
  private mutating func startReload(_ number: Int64) {
    let tell = { [parts] in for part in parts { part.changed(to: number) } }
    reload = ReloadRun(parts.compactMap { $0.change(to: number) }, at: now, taken: tell) { _ in }
  }

  private func stopAll() { for part in parts { part.emergencyStop(at: now) } }

  // MARK: The daemon's life

  private mutating func start() throws(RuntimeError) {
    isAlive = true
    (startsAt, deathSeenAt, hookAt) = (.distantFuture, .distantFuture, .distantFuture)
    cover.madeSafe = guardian?.note ?? ends.first
    cover.madeSafeLast = guardian?.lastNote ?? ends.last
    ends = []
    cover.endedWithoutStop = guardian != nil
    cover.stops = mechanisms.tellsLoops ? ExternalStops() : nil
    // The new guard takes the place of one that is still at work.
    guardian = SwarmGuard(at: now, mechanisms, cover) { [parts] now in
      parts.map { $0.makeSafe(at: now) }.allSatisfy { $0 }
    }
    watch = LoopWatch()
    nextBeat = now
    for (index, part) in parts.enumerated() {
      try part.start(at: now, cover)
      for (version, period) in part.heartbeats { watch.add(version, period: period) }
      publishedBefore[index] = Self.published(part)
      if isStopped[index], mechanisms.keepsStops { part.emergencyStop(at: now) }
    }
  }

  /// Stops the daemon as SIGTERM does; a suspended daemon does not react.
  private mutating func stop(for span: Nanoseconds) {
    guard isAlive, now >= frozenUntil else { return }
    noteStops()
    let stops = parts.map { $0.stop(at: now) }
    let isSafe = stops.allSatisfy(\.isOff)
    if parts.contains(where: \.hasDied) { return end(for: span) }
    // Safe outputs need neither a guard nor the stop hook.
    if isSafe { guardian = nil }
    if isSafe, mechanisms.notesUnkept {
      let before = [cover.madeSafe, cover.madeSafeLast].compactMap(\.self)
      ends = KeptOutcome.ends(stops.map(\.outcome), before: before, now: now)
    }
    end(for: span, needsNobody: isSafe)
  }

  private mutating func kill(for span: Nanoseconds) {
    guard isAlive else { return }
    noteStops()
    end(for: span)
  }

  /// Records which parts are stopped. A stop noted before a start stays noted until the part's loop has published,
  /// because the loop takes the stop in its first tick.
  private mutating func noteStops() {
    for (index, part) in parts.enumerated() {
      let published = Self.published(part)
      if published == nil || published != publishedBefore[index] { isStopped[index] = part.isEmergencyStopped }
    }
  }

  private static func published(_ part: any SwarmPart) -> UInt64? {
    let heartbeats = part.heartbeats
    return heartbeats.isEmpty ? nil : heartbeats.reduce(0) { $0 &+ $1.version.read() }
  }

  /// Ends the process.
  private mutating func end(for span: Nanoseconds, needsNobody: Bool = false) {
    isAlive = false
    reload = nil
    watch = LoopWatch()
    cover.hookFailed = false
    let safeBy = needsNobody ? now : cover.safeBy(at: now)
    for part in parts { part.kill(at: now, safeBy: safeBy) }
    var ends = Self.deathNoticed
    if needsNobody {
      ends = .zero
    } else if guardian?.isAtWork ?? false {
      deathSeenAt = now + ends
    } else if mechanisms.hasStopHook {
      ends = Self.hookStarts
      hookAt = now + ends
    }
    guardian?.leave()
    startsAt = now + max(span, ends + .milliseconds(1))
    frozenUntil = .zero
  }

  /// Suspends the daemon by SIGSTOP and resumes it by SIGCONT: loops and supervisor are suspended, the guard is not.
  private mutating func freeze(for span: Nanoseconds) {
    guard isAlive, now >= frozenUntil else { return }
    frozenUntil = now + span
    nextBeat = max(nextBeat, frozenUntil)
    guardian?.freeze(until: frozenUntil)
    for part in parts { part.freeze(at: now, for: span) }
  }

  // MARK: Supervisor, guard and stop hook

  private mutating func beat() {
    let due = nextBeat
    nextBeat = nextBeat + Self.beatPeriod
    if guardian?.beat(&watch, due: due, at: now) ?? false { stopAll() }
    if reload?.beat(at: now) ?? false { reload = nil }
  }

  private mutating func advanceGuard() {
    if deathSeenAt <= now {
      deathSeenAt = .distantFuture
      guardian?.close(at: now)
    }
    if hookAt <= now {
      hookAt = .distantFuture
      cover.hookFailed = !parts.map { $0.makeSafe(at: now) }.allSatisfy(\.self)
      if !cover.hookFailed { guardian?.noteHook(at: now) }
    }
    if guardian?.advance(at: now) ?? false, isAlive { stopAll() }
  }
}
