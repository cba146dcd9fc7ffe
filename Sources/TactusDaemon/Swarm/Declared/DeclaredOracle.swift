import Tactus

/// What must hold of a declared system, beside what must of every output.
private let invariants = [
  "what the guard has stopped is on only after a new order",
  "a counter only grows, and a parameter out of its range is refused",
  "a request is answered, or told lost within a second",
  "a limit that a reload makes tighter holds from the next tick on, a wider one once every output is off",
]

/// What must hold of every declared system, whatever it is: from its declaration, from what was asked, and from what its outputs do.
struct DeclaredOracle<Rules: Settings> {
  static var names: [String] { invariants }
  /// The mailbox's own limit, and a beat.
  private static var patience: Nanoseconds { .milliseconds(1_200) }

  var output: SwarmOutput
  /// When the guard stopped outputs that were on; `nil` since an order has been accepted.
  private var cutAt: TickInstant?
  private var waiting: [(number: UInt64, since: TickInstant)] = []
  /// By field, of this daemon.
  private var counters: [String: Double] = [:]
  /// What reloads have left in force.
  private(set) var inForce: SwarmInForce<DeclaredRules<Rules>>

  /// - Parameter period: the loop's.
  init(period: Nanoseconds) {
    // A loop that is slower than the supervisor is known to be.
    output = SwarmOutput(Self.names, tick: period, heartbeat: period > SupervisorLoop.rate.period ? period : .zero)
    inForce = SwarmInForce(DeclaredRules(Rules()), tick: period, at: .zero)
  }

  // MARK: What is done

  /// - Parameter rules: those of the file that it reads.
  mutating func started(
    at now: TickInstant, _ cover: SwarmCover, phase: Nanoseconds, _ rules: DeclaredRules<Rules> = DeclaredRules(Rules())
  ) {
    (cutAt, waiting, counters) = (nil, [], [:])
    inForce = SwarmInForce(rules, tick: output.reach.tick, at: now)
    output.started(at: now, cover, phase: phase)
  }

  mutating func killed(at now: TickInstant, safeBy: TickInstant) {
    waiting = []
    output.killed(at: now, safeBy: safeBy)
  }

  /// The guard has written every output's safe state.
  mutating func cut(wasDriving: Bool, isConfirmed: Bool, at now: TickInstant) {
    output.reach.wrote(isConfirmed: isConfirmed)
    if wasDriving { cutAt = now }
  }

  mutating func asked(_ number: UInt64, at now: TickInstant) {
    output.asked(number)
    waiting.append((number, now))
  }

  /// A client has been told.
  mutating func answered(_ answer: DeclaredAnswers.Told, at now: TickInstant) {
    output.answered([answer.number], at: now)
    waiting.removeAll { $0.number <= answer.number }
    guard answer.outcome == .accepted else { return }
    switch answer.kind {
    case .stop: output.took(isStop: true, at: now)
    case .reset:
      output.took(isStop: false, at: now)
      cutAt = nil
    case .command: if !answer.makesSafe { cutAt = nil }
    }
  }

  /// The door has read a request.
  mutating func read(isInRange: Bool, isTaken: Bool, _ word: String, at now: TickInstant) {
    output.check(1, isInRange == isTaken, at: now, "\(word) is \(isTaken ? "taken" : "refused")")
  }

  // MARK: Reloads

  mutating func proposed() { inForce.proposed() }
  mutating func changed(to rules: DeclaredRules<Rules>, at now: TickInstant) { inForce.changed(to: rules, at: now) }

  /// The loop has begun a tick.
  ///
  /// - Parameters:
  ///   - wasSafe: whether it has said of the tick before that every output is off.
  ///   - rules: those that it has taken.
  mutating func ticked(at now: TickInstant, wasSafe: Bool, _ rules: DeclaredRules<Rules>) {
    inForce.ticked(at: now, wasSafe: wasSafe && !output.reach.isBusDown(at: now)) { $0.tighter(than: $1) }
    let possible = inForce.possible
    output.check(
      3, possible.contains(rules), at: now,
      "\(rules) is in force, and \(possible.map { "\($0)" }.joined(separator: ", or ")) should be")
    inForce.said(rules)
  }

  /// - Parameters:
  ///   - duty: the largest share of an output.
  ///   - most: what a system's rules allow of it, for tests that know it.
  mutating func look(duty: Double, _ most: (Rules) -> Double, at now: TickInstant) {
    let allowed = inForce.possible.map { most($0.rules) }.max() ?? 0
    output.check(
      3, duty <= allowed + 0.001 || output.reach.isExcused(at: now), at: now,
      "an output is on for \(duty) of the time, allowed is \(allowed)")
  }

  // MARK: What must hold

  mutating func look(isDriving: Bool, at now: TickInstant) {
    inForce.look(isOff: !isDriving)
    let isExcused = output.look(isActive: isDriving, at: now)
    guard let cutAt else { return }
    output.check(
      0, isExcused || now <= cutAt, at: now, "one is on, and the guard stopped them at \(SwarmAction.text(cutAt)) s")
  }

  mutating func lookAtWaiting(at now: TickInstant) {
    guard let oldest = waiting.first else { return }
    output.check(
      2, now - oldest.since <= Self.patience, at: now,
      "request \(oldest.number) was made at \(SwarmAction.text(oldest.since)) s, and nothing was told")
  }

  mutating func look<System>(counters door: HostedDoor<System>, at now: TickInstant) {
    for leaf in door.document.leaves(of: door.newest) where leaf.form.kind == .counter {
      let value: Double
      switch leaf.value {
      case .integer(let whole): value = Double(whole)
      case .number(let number): value = number
      case .nothing, .boolean, .text: continue
      }
      let last = counters.updateValue(value, forKey: leaf.path) ?? value
      output.check(1, value >= last, at: now, "\(leaf.path) went from \(last) to \(value)")
    }
  }
}
