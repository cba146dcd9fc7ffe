import Tactus
import TactusSwarm
import Video

/// The checks of the video process and of its published state. They are derived from the simulated process, never from the rule that
/// supervises it.
struct VideoOracle {
  static let names = [
    "there is one video process at most, and one that behaves is left alone",
    "a process that is silent, or talks nonsense, is killed within its limit",
    "one that has ended is started again after its pause, ever longer up to half a minute",
    "running is said only while frames come, and down only without a process that works",
    "who looks is counted once, and the process is told whether anybody does",
    "a recording runs only in a process that records it",
    "every start has one end, or is the process that runs",
    "an orderly stop leaves no process but one that a driver holds, and waits for that no longer than a second",
  ]
  /// The time that a thread with something to do may take.
  private static let slack = Nanoseconds.milliseconds(300)

  private(set) var checks = SwarmChecks(names)
  private var starts: Int64 = 0
  private var ends: Int64 = 0
  /// The instant at which the last process ended and how long the pause after it is, or `nil` before the first end since the daemon's start.
  private var rest: (from: TickInstant, pause: Nanoseconds)?
  private var shortLives = 0
  private var awakeSince = TickInstant.zero
  private var settledSince = TickInstant.zero

  private mutating func check(_ index: Int, _ holds: Bool, at now: TickInstant, _ what: @autoclosure () -> String) {
    checks.check(index, holds, at: now, what())
  }

  mutating func started(at now: TickInstant) {
    (starts, ends, rest, shortLives, awakeSince, settledSince) = (0, 0, nil, 0, now, now)
  }

  /// Records that every thread of the daemon stands still until `end`.
  mutating func stoodStill(until end: TickInstant) { awakeSince = max(awakeSince, end) }

  /// Records a change of process, camera or viewers. The published state follows a moment later.
  mutating func changed(at now: TickInstant) { settledSince = now }

  mutating func spawned(beside process: SimulatedVideoProcess?, at now: TickInstant) {
    starts += 1
    check(0, process == nil, at: now, "process \(process?.number ?? 0) has not ended, and another is started")
    changed(at: now)
    guard let rest else { return }
    let waited = now - rest.from
    check(2, waited >= rest.pause, at: now, "started \(waited) after the last has ended, the pause is \(rest.pause)")
    let latest = max(rest.from + rest.pause, awakeSince) + Self.slack
    check(2, now <= latest, at: now, "started only \(waited) after the last has ended, the pause is \(rest.pause)")
  }

  /// Records the end of a process.
  ///
  /// - Parameter isReplaced: whether the process was ended for a replacement, without a malfunction.
  mutating func ended(_ process: SimulatedVideoProcess, isReplaced: Bool, at now: TickInstant) {
    ends += 1
    changed(at: now)
    if isReplaced {
      rest = (now, .zero)
      return
    }
    if now - process.startedAt >= SupervisionMachine.provenAfter { shortLives = 0 }
    let doubled = Nanoseconds(SupervisionMachine.shortestPause.count << Int64(min(shortLives, 10)))
    rest = (now, min(doubled, SupervisionMachine.longestPause))
    shortLives += 1
  }

  /// Records that the daemon replaces the process. Since new settings may have removed the cause of the last end, the next process may
  /// start at once.
  mutating func replaced(at now: TickInstant) {
    if let rest { self.rest = (rest.from, min(rest.pause, now - rest.from)) }
  }

  /// Checks an orderly stop of the daemon.
  ///
  /// - Parameters:
  ///   - process: the process that is left, or `nil` if every process has ended.
  ///   - told: the state that was published last.
  ///   - took: how long the stop took.
  mutating func stopped(
    _ process: SimulatedVideoProcess?, isDriverHung: Bool, told: String, took: Nanoseconds, at now: TickInstant
  ) {
    let isHeld = process.map { $0.killedAt != nil && isDriverHung } ?? true
    check(7, isHeld, at: now, "process \(process?.number ?? 0) is left, and no driver holds it")
    check(7, took <= SupervisionMachine.endLimit + Self.slack, at: now, "it took \(took)")
    check(3, told == "down", at: now, "\(told), and the daemon has stopped")
  }

  mutating func killed(_ process: SimulatedVideoProcess, isReplaced: Bool, at now: TickInstant) {
    changed(at: now)
    let isSilent = process.silentSince.map { now - $0 >= SupervisionMachine.silenceLimit - .milliseconds(500) } ?? false
    let isGuilty = isReplaced || isSilent || process.nonsenseSince != nil
    check(0, isGuilty, at: now, "process \(process.number) is killed, and it behaves")
  }

  mutating func check(_ process: SimulatedVideoProcess?, at now: TickInstant) {
    guard let process, process.killedAt == nil else { return }
    let limits = [
      process.silentSince.map { max($0, awakeSince) + SupervisionMachine.silenceLimit },
      process.nonsenseSince.map { max($0, awakeSince) },
    ]
    for limit in limits.compactMap(\.self) {
      check(
        1, now <= limit + Self.slack, at: now,
        "process \(process.number) should have been killed at \(SwarmAction.text(limit)) s")
    }
  }

  /// Checks the published state.
  ///
  /// - Parameters:
  ///   - state: the published state.
  ///   - isCameraThere: whether a running camera delivers frames.
  ///   - watched: the number of viewers.
  mutating func told(
    _ state: String, _ process: SimulatedVideoProcess?, isCameraThere: Bool, watched: Int, at now: TickInstant
  ) {
    guard now - awakeSince > .seconds(1) else { return }
    if state == "running", let process {
      // The limit is five seconds of the process's rule, five of the daemon's, and one for messages on their way.
      let isRecent = process.lastFrame.map { now - $0 <= .seconds(11) } ?? false
      let isFrozen = now - awakeSince < .seconds(11)
      let seen = process.lastFrame.map { "at \(SwarmAction.text($0)) s" } ?? "never"
      check(3, isRecent || isFrozen, at: now, "running, and the last frame came \(seen)")
    }
    let settled = now - max(settledSince, awakeSince)
    guard settled > .seconds(1) else { return }
    let hasProcess = process.map { $0.isHealthy } ?? false
    if process == nil { check(3, state == "down", at: now, "\(state), and there is no process") }
    if hasProcess { check(3, state != "down", at: now, "down, and process \(process!.number) works") }
    if hasProcess, isCameraThere, watched > 0, settled > .seconds(40) {
      check(3, state == "running", at: now, "\(state), and frames come")
    }
  }

  mutating func counted(
    viewers: Int, watched: Int, _ process: SimulatedVideoProcess?, at now: TickInstant
  ) {
    check(4, viewers == watched, at: now, "\(viewers) are counted, \(watched) look")
    guard let process, process.isHealthy, now - max(settledSince, awakeSince) > .seconds(1) else { return }
    check(4, process.isWanted == (watched > 0), at: now, "\(watched) look, and the process was told otherwise")
  }

  mutating func recorded(isRunning: Bool, path: String, _ process: SimulatedVideoProcess?, at now: TickInstant) {
    guard now - max(settledSince, awakeSince) > .seconds(1) else { return }
    let isTrue = !isRunning || process.map { $0.recording == path || !$0.isHealthy } ?? false
    check(5, isTrue, at: now, "\(path) is said to be recorded, the process records \(process?.recording ?? "nothing")")
  }

  /// Reports a violation: the daemon has stopped, but the desk still shows this recording as running.
  mutating func recordedAfterStop(_ path: String, at now: TickInstant) {
    check(5, false, at: now, "\(path) is said to be recorded, and the daemon has stopped")
  }

  mutating func account(
    starts told: Int64, ends toldEnds: Int64, _ process: SimulatedVideoProcess?, at now: TickInstant
  ) {
    let isExact = starts == ends + (process == nil ? 0 : 1)
    let (starts, ends) = (starts, ends)
    check(
      6, isExact && told == starts && toldEnds == ends, at: now,
      "\(told) starts and \(toldEnds) ends are told, there were \(starts) and \(ends)")
  }
}
