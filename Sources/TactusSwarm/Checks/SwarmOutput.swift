import Tactus

/// The invariants of every system's outputs, in addition to those of its own rules; the system's oracle contains this value.
public struct SwarmOutput {
  private static let names = [
    "an emergency stop holds until a reset, over kills and restarts",
    "a dead daemon's outputs are off as soon as the guard, or the stop hook, could turn them off",
    "without a guard every output is off",
    "every request is answered once, in order",
    "released = ran + skipped + pending",
    "an orderly stop leaves every output off",
  ]
  /// The longest time for which an output released by a direct reset may be on without a guard: until the daemon's next beat and its tick.
  private static let beat = Nanoseconds.milliseconds(150)

  /// The checks of the system's own invariants, followed by those of the invariants of every output.
  public private(set) var checks: SwarmChecks
  /// The means by which the outputs can be switched off.
  public var reach: SwarmReach
  private let own: Int
  private var stoppedSince: TickInstant?
  private var resetAt = TickInstant.zero
  private var asked: UInt64 = 0
  private var answered: UInt64 = 0
  private var epoch = TickInstant.zero

  /// Makes the checks.
  ///
  /// - Parameters:
  ///   - names: the system's own invariants, one sentence each.
  ///   - tick: the period of its loop.
  ///   - heartbeat: as in `SwarmReach`.
  public init(_ names: [String], tick: Nanoseconds, heartbeat: Nanoseconds = .zero) {
    own = names.count
    checks = SwarmChecks(names + Self.names)
    reach = SwarmReach(tick: tick, heartbeat: heartbeat)
  }

  /// Returns the total number of invariants of a system with `own` invariants of its own.
  public static func count(own: Int) -> Int { own + names.count }

  /// Checks one of the system's own invariants; see `SwarmChecks.check`.
  public mutating func check(_ index: Int, _ holds: Bool, at now: TickInstant, _ what: @autoclosure () -> String) {
    checks.check(index, holds, at: now, what())
  }

  // MARK: What is done

  /// Notes that a daemon has started, whose loop's first period begins after `phase`.
  public mutating func started(at now: TickInstant, _ cover: SwarmCover, phase: Nanoseconds = .zero) {
    (asked, answered, epoch) = (0, 0, now + phase)
    // A stop remains in force after the daemon ends, and the first tick of the next daemon takes it.
    if stoppedSince != nil { stoppedSince = now }
    reach.started(at: now, cover)
  }

  /// Notes that the daemon has died.
  public mutating func killed(at now: TickInstant, safeBy: TickInstant) { reach.killed(at: now, safeBy: safeBy) }

  /// Notes that the loop's ring has accepted the request of this number, counted from 1.
  public mutating func asked(_ number: UInt64) { asked = number }

  /// Checks the numbers of the requests that the loop has answered.
  public mutating func answered(_ numbers: [UInt64], at now: TickInstant) {
    for number in numbers {
      checks.check(
        own + 3, number == answered + 1 && number <= asked, at: now,
        "answer \(number) of \(asked) came after answer \(answered)")
      answered = number
    }
    checks.check(own + 3, asked - answered <= 64, at: now, "\(asked - answered) requests wait")
  }

  /// Notes that the loop has begun a tick in which it has taken a stop or a reset.
  public mutating func took(isStop: Bool, at now: TickInstant) {
    stoppedSince = isStop ? stoppedSince ?? now : nil
    if !isStop { resetAt = now }
  }

  // MARK: What must hold

  /// Checks the outputs after an orderly stop of the daemon.
  ///
  /// - Parameters:
  ///   - isActive: whether an output is on afterwards.
  ///   - isConfirmed: whether the loop confirms that every output is off.
  public mutating func stopped(isActive: Bool, isConfirmed: Bool, at now: TickInstant) {
    checks.check(own + 5, !isActive || reach.isBusDown(at: now), at: now, "one is on")
    checks.check(own + 5, !isActive || !isConfirmed, at: now, "one is on, and said to be off")
  }

  /// Checks the invariants of the outputs.
  ///
  /// - Parameter isActive: whether an output is on.
  /// - Returns: whether every output is off, or could not have been switched off by any means.
  public mutating func check(isActive: Bool, at now: TickInstant) -> Bool {
    let isExcused = !isActive || reach.isExcused(at: now)
    if let killedAt = reach.killedAt {
      checks.check(own + 1, isExcused, at: now, "one is on, and the daemon died at \(SwarmAction.text(killedAt)) s")
      return isExcused
    }
    if let stoppedSince {
      checks.check(
        own, isExcused || now <= stoppedSince, at: now, "one is on, stopped at \(SwarmAction.text(stoppedSince)) s")
    }
    if let from = reach.offFrom {
      checks.check(
        own + 2, isExcused || now <= max(from, resetAt + Self.beat) + reach.tick, at: now,
        "one is on, and must have been off since \(SwarmAction.text(from)) s")
    }
    return isExcused
  }

  /// Checks the loop's counters, after a tick or between two.
  public mutating func account(_ counters: LoopCounters, at now: TickInstant) {
    let due = now < epoch ? 0 : (now - epoch).count / reach.tick.count + 1
    checks.check(
      own + 4, counters.released == due && due == counters.ran + counters.skipped + counters.pending, at: now,
      "\(due) periods have begun: \(counters.ran) ran, \(counters.skipped) skipped, \(counters.pending) pending")
  }
}
