import Tactus

/// What must hold of every declared system, whatever it is: from its declaration, from what was asked, and from what its outputs do.
struct DeclaredOracle {
  static let names = [
    "what the guard has stopped is on only after a new order",
    "a counter only grows, and a parameter out of its range is refused",
    "a request is answered, or told lost within a second",
  ]
  /// The mailbox's own limit, and a beat.
  private static let patience = Nanoseconds.milliseconds(1_200)

  var output: SwarmOutput
  /// When the guard stopped outputs that were on; `nil` since an order has been accepted.
  private var cutAt: TickInstant?
  private var waiting: [(number: UInt64, since: TickInstant)] = []
  /// By field, of this daemon.
  private var counters: [String: Double] = [:]

  /// - Parameter period: the loop's.
  init(period: Nanoseconds) {
    // A loop that is slower than the supervisor is known to be.
    output = SwarmOutput(Self.names, tick: period, heartbeat: period > SupervisorLoop.rate.period ? period : .zero)
  }

  // MARK: What is done

  mutating func started(at now: TickInstant, _ cover: SwarmCover, phase: Nanoseconds) {
    (cutAt, waiting, counters) = (nil, [], [:])
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

  // MARK: What must hold

  mutating func look(isDriving: Bool, at now: TickInstant) {
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
    for field in door.fields where field.kind == .counter {
      let value: Double
      switch field.read(door.newest) {
      case .integer(let whole): value = Double(whole)
      case .number(let number): value = number
      case .nothing, .boolean, .text: continue
      }
      let last = counters.updateValue(value, forKey: field.name) ?? value
      output.check(1, value >= last, at: now, "\(field.name) went from \(last) to \(value)")
    }
  }
}
