import Tactus
import TactusDaemon

/// What must hold of a robot's motors, from what was sent to it and what its board does: the rules of the README once more, by another way.
///
/// It never knows less of what may drive than the machine: where a rule is subtle (a clock that was set), it allows more.
struct RobotOracle {
  enum Command: Hashable {
    /// `stamp` is the sender's clock, ms; `nil` if it has none.
    case drive(Int, stamp: Int64?, isZero: Bool)
    case stop(Int)
    case emergencyStop
    case reset
  }

  static let names = [
    "the motors stand 1 s and a tick after the last valid command", "an emergency stop holds until a reset",
    "a killed daemon's motors stand 20 ms later", "every request is answered once, in order",
    "released = ran + skipped + pending",
  ]
  private static let failsafe = Nanoseconds.seconds(1)
  private static let tick = Nanoseconds.milliseconds(50)
  /// RobotRequest: how long a drive may wait for the loop.
  private static let patience = Nanoseconds.milliseconds(250)

  private(set) var checks = SwarmChecks(names)
  private var waiting: [(command: Command, issued: TickInstant?)] = []
  /// The last command that may drive, and who it is from; `nil` in it: who holds control is not known, and anybody may go on.
  private var fed: (at: TickInstant, by: Int?)?
  /// When the holder was last heard beyond doubt.
  private var heard = TickInstant.zero
  private var stamps = RobotStamps()
  private var stoppedSince: TickInstant?
  private(set) var reach = SwarmReach(tick: tick)
  private var unanswered: [UInt64] = []
  private var epoch = TickInstant.zero

  // MARK: What is done

  mutating func started(at now: TickInstant) {
    (stoppedSince, fed, waiting, unanswered, epoch) = (nil, nil, [], [], now)
    reach.started(at: now)
  }

  mutating func killed(at now: TickInstant) {
    (waiting, unanswered) = ([], [])
    reach.killed(at: now)
  }

  mutating func stalled(at now: TickInstant, for span: Nanoseconds) { reach.stalled(at: now, for: span) }
  mutating func bus(isFaulty: Bool, at now: TickInstant) { reach.bus(isFaulty: isFaulty, at: now) }
  mutating func hear(_ command: Command, issued: TickInstant?) { waiting.append((command, issued)) }
  mutating func asked(_ number: UInt64) { unanswered.append(number) }

  mutating func answered(_ numbers: [UInt64], at now: TickInstant) {
    for number in numbers {
      let first = unanswered.first
      checks.check(3, number == first, at: now, "answer \(number) came, \(first.map { "\($0)" } ?? "none") was due")
      if first == number { unanswered.removeFirst() }
    }
  }

  // MARK: What the loop may know

  /// A tick began at `now`: it has taken all that waited.
  mutating func ticked(at now: TickInstant) {
    // Requests are taken before datagrams.
    let taken = waiting.filter { $0.issued != nil } + waiting.filter { $0.issued == nil }
    waiting = []
    for (command, issued) in taken {
      switch command {
      case .emergencyStop: if stoppedSince == nil { stoppedSince = now }
      case .reset:
        stoppedSince = nil
        // Control may be free.
        if let last = fed { fed = (last.at, nil) }
      case .stop: break
      case .drive(let sender, let stamp, let isZero):
        if let issued, now - issued > Self.patience, !isZero { continue }
        feed(by: sender, stamp, at: now)
      }
    }
    checks.check(3, unanswered.count <= 64, at: now, "\(unanswered.count) requests wait")
  }

  private mutating func feed(by sender: Int, _ stamp: Int64?, at now: TickInstant) {
    guard let last = fed, now - last.at < Self.failsafe else {
      stamps = RobotStamps()
      _ = stamps.judge(stamp, at: now)
      fed = (now, sender)
      heard = now
      return
    }
    // Control may have been free meanwhile.
    guard let holder = last.by, now - heard < Self.failsafe else {
      fed = (now, nil)
      return
    }
    guard sender == holder else { return }
    let verdict = stamps.judge(stamp, at: now)
    guard verdict != .old else { return }
    fed = (now, holder)
    if verdict == .news { heard = now }
  }

  // MARK: What must hold

  mutating func look(isMoving: Bool, at now: TickInstant) {
    let isExcused = !isMoving || reach.isExcused(at: now)
    let last = fed.map { $0.at + Self.failsafe + Self.tick }
    checks.check(
      0, isExcused || last.map { now <= $0 } ?? false, at: now,
      "they run, and the last valid command came \(fed.map { "at \(SwarmAction.text($0.at)) s" } ?? "never")")
    if let killedAt = reach.killedAt {
      guard now > killedAt + SwarmReach.deathTime else { return }
      checks.check(2, isExcused, at: now, "they run, and the daemon died at \(SwarmAction.text(killedAt)) s")
    } else if let stoppedSince {
      checks.check(
        1, isExcused || now <= stoppedSince, at: now, "they run, stopped at \(SwarmAction.text(stoppedSince)) s")
    }
  }

  mutating func account(_ loop: LoopStatistics, at now: TickInstant) {
    let (counters, due) = (loop.counters, (now - epoch).count / Self.tick.count + 1)
    checks.check(
      4, counters.released == due && due == counters.ran + counters.skipped + counters.pending, at: now,
      "\(due) periods have begun: \(counters.ran) ran, \(counters.skipped) skipped, \(counters.pending) pending")
  }
}
