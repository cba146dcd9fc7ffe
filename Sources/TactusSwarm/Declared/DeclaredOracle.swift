import Tactus
import TactusDaemon

/// The invariants of a declared system, in addition to those of every output.
private let invariants = [
  "what the guard has stopped is on only after a new order",
  "a counter only grows, and a parameter out of its range is refused",
  "a request is answered, or told lost within a second",
  "a limit that a reload makes tighter holds from the next tick on, a wider one once every output is off",
  "what arrived before a stop is not carried out after it, and only that is refused as overtaken",
]

/// Checks the invariants that every declared system must keep, from its declaration, from the requests made, and from the behaviour of its outputs.
struct DeclaredOracle<Rules: Settings> {
  static var names: [String] { invariants }
  /// The longest time for which a request may remain without an answer: the timeout of the mailbox plus a beat.
  private static var patience: Nanoseconds { .milliseconds(1_200) }

  var output: SwarmOutput
  /// The time at which the guard stopped outputs that were on, or `nil` if none was stopped or an order has been accepted since.
  private var cutAt: TickInstant?
  private var waiting: [(number: UInt64, since: TickInstant)] = []
  /// The arrival of the newest request to make the system safe that this daemon's loop has received, or `nil` if it has received none.
  private var stopArrived: TickInstant?
  /// The requests that arrived before a stop and were given to the loop after it.
  private var overtaken: Set<UInt64> = []
  /// The last values of the counters of this daemon, by field.
  private var counters: [String: Double] = [:]
  /// The rules that may be in force while reloads change them.
  private(set) var inForce: SwarmInForce<DeclaredRules<Rules>>

  /// Makes the oracle of one system.
  ///
  /// - Parameter period: the period of the loop.
  init(period: Nanoseconds) {
    // The guard allows for a loop whose period is longer than the supervisor's.
    output = SwarmOutput(Self.names, tick: period, heartbeat: period > SupervisorLoop.rate.period ? period : .zero)
    inForce = SwarmInForce(DeclaredRules(Rules()), tick: period, at: .zero)
  }

  // MARK: What is done

  /// Notes that a daemon has started.
  ///
  /// - Parameter rules: the rules of the file that the daemon reads.
  mutating func started(
    at now: TickInstant, _ cover: SwarmCover, phase: Nanoseconds, _ rules: DeclaredRules<Rules> = DeclaredRules(Rules())
  ) {
    (cutAt, waiting, counters, stopArrived, overtaken) = (nil, [], [:], nil, [])
    inForce = SwarmInForce(rules, tick: output.reach.tick, at: now)
    output.started(at: now, cover, phase: phase)
  }

  mutating func killed(at now: TickInstant, safeBy: TickInstant) {
    waiting = []
    output.killed(at: now, safeBy: safeBy)
  }

  /// Notes that the guard has written the safe state of every output.
  mutating func cut(wasDriving: Bool, isConfirmed: Bool, at now: TickInstant) {
    output.reach.wrote(isConfirmed: isConfirmed)
    if wasDriving { cutAt = now }
  }

  /// Notes that the loop has been given a request.
  ///
  /// - Parameter arrived: the instant at which the client sent the request; `now` if it is not given.
  mutating func asked(_ number: UInt64, makesSafe: Bool = false, arrived: TickInstant? = nil, at now: TickInstant) {
    output.asked(number)
    waiting.append((number, now))
    let arrived = arrived ?? now
    if makesSafe {
      stopArrived = max(stopArrived ?? arrived, arrived)
    } else if let stopArrived, arrived < stopArrived {
      overtaken.insert(number)
    }
  }

  /// Notes that a request which arrived at the given instant was refused because a stop had overtaken it.
  mutating func refusedAsOvertaken(arrived: TickInstant, at now: TickInstant) {
    output.check(
      4, stopArrived.map { arrived < $0 } ?? false, at: now,
      "a request of \(SwarmAction.text(arrived)) s was refused as overtaken")
  }

  /// Notes that a client has received an answer.
  mutating func answered(_ answer: DeclaredAnswers.Told, at now: TickInstant) {
    output.answered([answer.number], at: now)
    waiting.removeAll { $0.number <= answer.number }
    if overtaken.remove(answer.number) != nil {
      output.check(
        4, answer.outcome != .accepted, at: now, "request \(answer.number) arrived before a stop and was carried out")
    }
    guard answer.outcome == .accepted else { return }
    switch answer.kind {
    case .stop: output.took(isStop: true, at: now)
    case .reset:
      output.took(isStop: false, at: now)
      cutAt = nil
    case .command: if !answer.makesSafe { cutAt = nil }
    }
  }

  /// Checks whether the service was right to accept or refuse the parameters of a request.
  mutating func read(isInRange: Bool, isTaken: Bool, _ word: String, at now: TickInstant) {
    output.check(1, isInRange == isTaken, at: now, "\(word) is \(isTaken ? "taken" : "refused")")
  }

  // MARK: Reloads

  mutating func proposed() { inForce.proposed() }
  mutating func changed(to rules: DeclaredRules<Rules>, at now: TickInstant) { inForce.changed(to: rules, at: now) }

  /// Notes that the loop has begun a tick, and checks the rules in force.
  ///
  /// - Parameters:
  ///   - wasSafe: whether the loop has confirmed for the previous tick that every output is off.
  ///   - rules: the rules that the loop has applied.
  mutating func ticked(at now: TickInstant, wasSafe: Bool, _ rules: DeclaredRules<Rules>) {
    inForce.ticked(at: now, wasSafe: wasSafe && !output.reach.isBusDown(at: now)) { $0.tighter(than: $1) }
    let possible = inForce.possible
    output.check(
      3, possible.contains(rules), at: now,
      "\(rules) is in force, and \(possible.map { "\($0)" }.joined(separator: ", or ")) should be")
    inForce.said(rules)
  }

  /// Checks the duty cycle of the outputs against the rules.
  ///
  /// - Parameters:
  ///   - duty: the largest duty cycle of any output.
  ///   - most: returns the largest duty cycle that rules allow, for tests that know it.
  mutating func check(duty: Double, _ most: (Rules) -> Double, at now: TickInstant) {
    let allowed = inForce.possible.map { most($0.rules) }.max() ?? 0
    output.check(
      3, duty <= allowed + 0.001 || output.reach.isExcused(at: now), at: now,
      "an output is on for \(duty) of the time, allowed is \(allowed)")
  }

  // MARK: What must hold

  mutating func check(isDriving: Bool, at now: TickInstant) {
    inForce.observe(isOff: !isDriving)
    let isExcused = output.check(isActive: isDriving, at: now)
    guard let cutAt else { return }
    output.check(
      0, isExcused || now <= cutAt, at: now, "one is on, and the guard stopped them at \(SwarmAction.text(cutAt)) s")
  }

  mutating func checkWaiting(at now: TickInstant) {
    guard let oldest = waiting.first else { return }
    output.check(
      2, now - oldest.since <= Self.patience, at: now,
      "request \(oldest.number) was made at \(SwarmAction.text(oldest.since)) s, and nothing was told")
  }

  mutating func check(growing fields: [(name: String, value: Double)], at now: TickInstant) {
    for (name, value) in fields {
      let last = counters.updateValue(value, forKey: name) ?? value
      output.check(1, value >= last, at: now, "\(name) went from \(last) to \(value)")
    }
  }
}
