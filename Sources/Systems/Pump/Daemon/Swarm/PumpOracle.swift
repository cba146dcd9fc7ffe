import Pump
import Tactus
import TactusDaemon

/// What must hold of a pump's motor, from what was sent to it and what its output does.
struct PumpOracle {
  enum Command { case on, off, emergencyStop, reset }

  static let names = [
    "no more pumping between two rests than the run limit, over kills and restarts",
    "no pumping without an ON since the last stop",
    "an emergency stop holds until a reset", "a killed daemon's motor stands 20 ms later",
    "every request is answered once, in order", "released = ran + skipped + pending",
  ]
  private static let tick = Nanoseconds.milliseconds(50)
  /// PumpRequest: how long an ON may wait for the loop.
  private static let patience = Nanoseconds.milliseconds(500)
  /// What was pumped since the last note in the store, when the daemon is killed.
  private static let unnoted = Nanoseconds.milliseconds(150)

  private(set) var checks = SwarmChecks(names)
  private var reach = SwarmReach(tick: tick)
  private var waiting: [(command: Command, issued: TickInstant?)] = []
  private var mayPump = false
  private var stoppedSince: TickInstant?
  private var unanswered: [UInt64] = []
  private var epoch = TickInstant.zero
  /// Pumped since the last rest, while it could be stopped.
  private var pumped = Nanoseconds.zero
  private var allowance = PumpSwarm.settings.runLimit + tick
  private var stillSince = TickInstant.zero
  private var lookedAt = TickInstant.zero

  // MARK: What is done

  mutating func started(at now: TickInstant) {
    (waiting, unanswered, stoppedSince, mayPump, epoch) = ([], [], nil, false, now)
    reach.started(at: now)
  }

  mutating func killed(at now: TickInstant) {
    (waiting, unanswered) = ([], [])
    allowance = allowance + Self.unnoted
    reach.killed(at: now)
  }

  mutating func stalled(at now: TickInstant, for span: Nanoseconds) { reach.stalled(at: now, for: span) }
  mutating func bus(isFaulty: Bool, at now: TickInstant) { reach.bus(isFaulty: isFaulty, at: now) }

  mutating func hear(_ command: Command, issued: TickInstant?) {
    // A line has no place in the ring, and no age.
    if issued == nil { mayPump = true } else { waiting.append((command, issued)) }
  }

  mutating func asked(_ number: UInt64) { unanswered.append(number) }

  mutating func answered(_ numbers: [UInt64], at now: TickInstant) {
    for number in numbers {
      let first = unanswered.first
      checks.check(4, number == first, at: now, "answer \(number) came, \(first.map { "\($0)" } ?? "none") was due")
      if first == number { unanswered.removeFirst() }
    }
  }

  // MARK: What the loop may know

  mutating func ticked(at now: TickInstant) {
    for (command, issued) in waiting {
      let isStale = issued.map { now - $0 > Self.patience } ?? false
      switch command {
      case .on: if !isStale { mayPump = true }
      // A line may be on its way: only the door's own stop is known to have been the last.
      case .off: break
      case .emergencyStop: if stoppedSince == nil { stoppedSince = now }
      case .reset:
        stoppedSince = nil
        // A person takes the responsibility.
        if !isStale { forget() }
      }
    }
    waiting = []
  }

  private mutating func forget() {
    pumped = .zero
    allowance = PumpSwarm.settings.runLimit + Self.tick
  }

  // MARK: What must hold

  mutating func look(isPumping: Bool, at now: TickInstant) {
    let isExcused = !isPumping || reach.isExcused(at: now)
    account(isPumping: isPumping, isExcused: isExcused, at: now)
    checks.check(
      0, isExcused || pumped <= allowance, at: now,
      "it has pumped for \(pumped.inSeconds) s since its last rest, \(allowance.inSeconds) s are allowed")
    checks.check(1, isExcused || mayPump, at: now, "it pumps")
    if let killedAt = reach.killedAt {
      guard now > killedAt + SwarmReach.deathTime else { return }
      checks.check(3, isExcused, at: now, "it pumps, and the daemon died at \(SwarmAction.text(killedAt)) s")
    } else if let stoppedSince {
      checks.check(
        2, isExcused || now <= stoppedSince, at: now, "it pumps, stopped at \(SwarmAction.text(stoppedSince)) s")
    }
  }

  private mutating func account(isPumping: Bool, isExcused: Bool, at now: TickInstant) {
    if isPumping {
      if !isExcused { pumped = pumped + (now - lookedAt) }
      stillSince = now
    } else if now - stillSince >= PumpSwarm.settings.rest {
      forget()
    }
    lookedAt = now
  }

  mutating func account(_ loop: LoopStatistics, at now: TickInstant) {
    let (counters, due) = (loop.counters, (now - epoch).count / Self.tick.count + 1)
    checks.check(
      5, counters.released == due && due == counters.ran + counters.skipped + counters.pending, at: now,
      "\(due) periods have begun: \(counters.ran) ran, \(counters.skipped) skipped, \(counters.pending) pending")
  }
}
