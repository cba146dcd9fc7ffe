import Tactus

/// What must hold of every system's outputs, beside what its own rules say: for its oracle to hold.
public struct SwarmOutput {
  private static let names = [
    "an emergency stop holds until a reset, over kills and restarts",
    "a dead daemon's outputs are off as soon as the guard, or the stop hook, could turn them off",
    "without a guard every output is off",
    "every request is answered once, in order",
    "released = ran + skipped + pending",
    "an orderly stop leaves every output off",
  ]
  /// How long an output that a reset from outside the door has released may be on without a guard: until the daemon's next beat, and its tick.
  private static let beat = Nanoseconds.milliseconds(150)

  /// The system's own invariants, then those of every output.
  public private(set) var checks: SwarmChecks
  /// Who could have reached the outputs.
  public var reach: SwarmReach
  private let own: Int
  private var stoppedSince: TickInstant?
  private var resetAt = TickInstant.zero
  private var asked: UInt64 = 0
  private var answered: UInt64 = 0
  private var epoch = TickInstant.zero

  /// - Parameters:
  ///   - names: the system's own invariants, a sentence each.
  ///   - tick: its loop's period.
  ///   - heartbeat: as `SwarmReach`'s.
  public init(_ names: [String], tick: Nanoseconds, heartbeat: Nanoseconds = .zero) {
    own = names.count
    checks = SwarmChecks(names + Self.names)
    reach = SwarmReach(tick: tick, heartbeat: heartbeat)
  }

  /// How many invariants a system has that has so many of its own.
  public static func count(own: Int) -> Int { own + names.count }

  /// Looks at one of the system's own invariants; see `SwarmChecks.check`.
  public mutating func check(_ index: Int, _ holds: Bool, at now: TickInstant, _ what: @autoclosure () -> String) {
    checks.check(index, holds, at: now, what())
  }

  // MARK: What is done

  /// A daemon starts: its loop's first period begins `phase` later.
  public mutating func started(at now: TickInstant, _ cover: SwarmCover, phase: Nanoseconds = .zero) {
    (asked, answered, epoch) = (0, 0, now + phase)
    // A stop outlives the daemon: its first tick takes it.
    if stoppedSince != nil { stoppedSince = now }
    reach.started(at: now, cover)
  }

  /// The daemon dies.
  public mutating func killed(at now: TickInstant, safeBy: TickInstant) { reach.killed(at: now, safeBy: safeBy) }

  /// The loop's ring has taken the request of this number: they are counted from 1.
  public mutating func asked(_ number: UInt64) { asked = number }

  /// The loop has answered these.
  public mutating func answered(_ numbers: [UInt64], at now: TickInstant) {
    for number in numbers {
      checks.check(
        own + 3, number == answered + 1 && number <= asked, at: now,
        "answer \(number) of \(asked) came after answer \(answered)")
      answered = number
    }
    checks.check(own + 3, asked - answered <= 64, at: now, "\(asked - answered) requests wait")
  }

  /// The loop has begun a tick, and with it taken a stop, or a reset.
  public mutating func took(isStop: Bool, at now: TickInstant) {
    stoppedSince = isStop ? stoppedSince ?? now : nil
    if !isStop { resetAt = now }
  }

  // MARK: What must hold

  /// The daemon stops in order.
  ///
  /// - Parameters:
  ///   - isActive: whether an output is on afterwards.
  ///   - isConfirmed: whether the loop says that every output is off.
  public mutating func stopped(isActive: Bool, isConfirmed: Bool, at now: TickInstant) {
    checks.check(own + 5, !isActive || reach.isBusDown(at: now), at: now, "one is on")
    checks.check(own + 5, !isActive || !isConfirmed, at: now, "one is on, and said to be off")
  }

  /// - Parameter isActive: whether an output is on.
  /// - Returns: whether nobody could have reached it, or it is off.
  public mutating func look(isActive: Bool, at now: TickInstant) -> Bool {
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

  /// The loop's counters, as they are after a tick, or between two.
  public mutating func account(_ counters: LoopCounters, at now: TickInstant) {
    let due = now < epoch ? 0 : (now - epoch).count / reach.tick.count + 1
    checks.check(
      own + 4, counters.released == due && due == counters.ran + counters.skipped + counters.pending, at: now,
      "\(due) periods have begun: \(counters.ran) ran, \(counters.skipped) skipped, \(counters.pending) pending")
  }
}
