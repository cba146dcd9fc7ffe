import Tactus
import TactusDaemon
import Wire

/// What must hold of legs' pulses, from what was sent to them and what their chip does.
///
/// It never knows less of what may pulse than the machine: every arm, set and ping counts as a command that feeds, whatever the state.
struct LegOracle {
  static let names = [
    "no pulse 200 ms and a tick after the last command that feeds",
    "no pulse without an arm and a set since the last disarm",
    "an emergency stop holds until a reset", "a killed daemon's pulses are gone 20 ms later",
    "every request is answered once, in order", "released = ran + skipped + pending",
  ]
  private static let deadman = Nanoseconds.milliseconds(200)
  private static let tick = Nanoseconds.milliseconds(20)
  /// LegRequest: how long an arm or a pulse may wait for the loop.
  private static let patience = Nanoseconds.milliseconds(150)

  private struct Leg {
    var fedAt: TickInstant?
    var isArmed = false
    var isSet = false
  }

  private enum Heard {
    case command(LegCommand, leg: Int, issued: TickInstant?)
    case stop(Bool)
  }

  private(set) var checks = SwarmChecks(names)
  private var reach = SwarmReach(tick: tick)
  private var legs: [Leg]
  private var requests: [Heard] = []
  private var frames: [Heard] = []
  private var stoppedSince: TickInstant?
  private var unanswered: [UInt64] = []
  private var epoch = TickInstant.zero

  init(legs count: Int) { legs = Array(repeating: Leg(), count: count) }

  // MARK: What is done

  mutating func started(at now: TickInstant) {
    (legs, stoppedSince, epoch) = (Array(repeating: Leg(), count: legs.count), nil, now)
    (requests, frames, unanswered) = ([], [], [])
    reach.started(at: now)
  }

  mutating func killed(at now: TickInstant) {
    (requests, frames, unanswered) = ([], [], [])
    reach.killed(at: now)
  }

  mutating func stalled(at now: TickInstant, for span: Nanoseconds) { reach.stalled(at: now, for: span) }
  mutating func bus(isFaulty: Bool, at now: TickInstant) { reach.bus(isFaulty: isFaulty, at: now) }

  mutating func hear(_ command: LegCommand, _ leg: Int, issued: TickInstant?) {
    let heard = Heard.command(command, leg: leg, issued: issued)
    if issued == nil { frames.append(heard) } else { requests.append(heard) }
  }

  mutating func hearStop(_ isStop: Bool) { requests.append(.stop(isStop)) }
  mutating func asked(_ number: UInt64) { unanswered.append(number) }

  mutating func answered(_ numbers: [UInt64], at now: TickInstant) {
    for number in numbers {
      let first = unanswered.first
      checks.check(4, number == first, at: now, "answer \(number) came, \(first.map { "\($0)" } ?? "none") was due")
      if first == number { unanswered.removeFirst() }
    }
  }

  // MARK: What the loop may know

  /// A tick began at `now`: it has taken all requests, then all frames.
  mutating func ticked(at now: TickInstant) {
    for heard in requests + frames {
      switch heard {
      case .stop(let isStop): stoppedSince = isStop ? stoppedSince ?? now : nil
      case .command(.disarm, let leg, _): (legs[leg].isArmed, legs[leg].isSet) = (false, false)
      case .command(_, _, let issued?) where now - issued > Self.patience: break
      case .command(let command, let leg, _):
        legs[leg].fedAt = now
        if command == .arm { legs[leg].isArmed = true }
        if case .setServo = command, legs[leg].isArmed { legs[leg].isSet = true }
      }
    }
    (requests, frames) = ([], [])
  }

  // MARK: What must hold

  mutating func look(pulsing: Int, at now: TickInstant) {
    let excuse = reach.isExcused(at: now)
    for index in legs.indices {
      let isExcused = pulsing >> index & 1 == 0 || excuse
      let leg = legs[index]
      let isFed = leg.fedAt.map { now <= $0 + Self.deadman + Self.tick } ?? false
      checks.check(
        0, isExcused || isFed, at: now,
        "leg \(index) pulses, and was last fed \(leg.fedAt.map { "at \(SwarmAction.text($0)) s" } ?? "never")")
      checks.check(1, isExcused || leg.isSet, at: now, "leg \(index) pulses")
      if let killedAt = reach.killedAt {
        guard now > killedAt + SwarmReach.deathTime else { continue }
        checks.check(
          3, isExcused, at: now, "leg \(index) pulses, and the daemon died at \(SwarmAction.text(killedAt)) s")
      } else if let stoppedSince {
        checks.check(
          2, isExcused || now <= stoppedSince, at: now,
          "leg \(index) pulses, stopped at \(SwarmAction.text(stoppedSince)) s")
      }
    }
  }

  mutating func account(_ loop: LoopStatistics, at now: TickInstant) {
    let (counters, due) = (loop.counters, (now - epoch).count / Self.tick.count + 1)
    checks.check(
      5, counters.released == due && due == counters.ran + counters.skipped + counters.pending, at: now,
      "\(due) periods have begun: \(counters.ran) ran, \(counters.skipped) skipped, \(counters.pending) pending")
  }
}
