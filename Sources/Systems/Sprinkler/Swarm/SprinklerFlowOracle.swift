import Sprinkler
import Tactus
import TactusSwarm

/// What must hold of the limits of the flow while reloads change them: from the valves' lines, the water as the history has left it, and what the files say.
struct SprinklerFlowOracle {
  static let names = [
    "flow beyond its limit closes every valve within the time in which it is measured, and none opens before a reset",
    "an alarm is told of flow beyond a limit in force, and of no other",
  ]
  private static let tick = SprinklerLoop.period
  /// A pulse more or less in a measurement.
  private static let doubt = 0.5

  /// The limits that may be in force.
  private(set) var limits: SwarmInForce<FlowLimits>
  private var isDry = false
  private var burst = 0.0
  private var open: UInt64 = 0
  /// Since when the lines are as they are, and what has flowed since, in litres a minute: the least, and the most.
  private var linesSince = TickInstant.zero
  private var lowest = 0.0
  private var highest = 0.0
  /// What flows now, and since when.
  private var rate = 0.0
  private var rateSince = TickInstant.zero
  private var resetAt = TickInstant.zero
  private var wroteAt = TickInstant.zero
  /// When water last flowed through a valve that nobody could close, and how much: the loop takes it for closed, and measures a leak.
  private var escape = (at: TickInstant.zero, rate: 0.0)
  private var alarm: FlowAlarm?
  /// Why no valve may open before a reset, and since when.
  private var held: (reason: String, since: TickInstant)?

  init(_ limits: FlowLimits, at now: TickInstant) { self.limits = SwarmInForce(limits, tick: Self.tick, at: now) }

  // MARK: What is done

  /// A daemon starts, and reads the file of these limits.
  mutating func started(_ new: FlowLimits, at now: TickInstant) {
    (limits, alarm, held) = (SwarmInForce(new, tick: Self.tick, at: now), nil, nil)
    setLines(open, at: now)
  }

  mutating func proposed() { limits.proposed() }
  mutating func changed(to new: FlowLimits, at now: TickInstant) { limits.changed(to: new, at: now) }

  /// The water is another.
  ///
  /// - Parameter burst: litres a minute that a burst pipe lets through.
  mutating func water(isDry: Bool, burst: Double, at now: TickInstant) {
    (self.isDry, self.burst) = (isDry, burst)
    let before = rate
    rate = flow
    if rate != before { rateSince = now }
    (lowest, highest) = (min(lowest, rate), max(highest, rate))
  }

  /// The loop has begun a tick.
  ///
  /// - Parameter wasSafe: whether it has said of the tick before that every line is off.
  mutating func ticked(at now: TickInstant, wasSafe: Bool) {
    // What is tighter the type itself says, and its own tests show.
    limits.ticked(at: now, wasSafe: wasSafe) { $0.tighter(than: $1) }
  }

  /// The loop has taken a reset.
  mutating func reset(at now: TickInstant) { (held, resetAt) = (nil, now) }

  /// The loop has set its lines in this tick. Between two settings of one instant a measurement begins anew, which nobody sees from outside.
  mutating func wrote(at now: TickInstant) { wroteAt = now }

  private mutating func setLines(_ new: UInt64, at now: TickInstant) {
    (open, linesSince) = (new, now)
    let before = rate
    rate = flow
    if rate != before { rateSince = now }
    (lowest, highest) = (rate, rate)
  }

  private var flow: Double {
    guard !isDry else { return 0 }
    return SprinklerSwarm.litresPerMinute.enumerated().reduce(burst) {
      $0 + (open >> UInt64(clamping: $1.offset) & 1 != 0 ? $1.element : 0)
    }
  }

  // MARK: What must hold

  /// What the loop says, after a tick, of the lines as they were before it.
  mutating func told(
    _ state: IrrigationState, _ new: FlowAlarm?, at now: TickInstant, _ output: inout SwarmOutput, _ first: Int
  ) {
    if let new, new != alarm {
      let (period, lowest, highest) = (now - linesSince, lowest, highest)
      func isBeyond(_ limit: FlowSettings.Watch?, _ isBeyond: (FlowSettings.Watch) -> Bool) -> Bool {
        limit.map { period >= $0.over && isBeyond($0) } ?? false
      }
      let isTrue = limits.possible.contains { limits in
        switch new {
        case .noFlow: isBeyond(limits.noFlow) { lowest < $0.litresPerMinute + Self.doubt }
        case .highFlow: isBeyond(limits.highFlow) { highest > $0.litresPerMinute - Self.doubt }
        case .leak:
          isBeyond(limits.leak) { highest > $0.litresPerMinute - Self.doubt } || hasEscaped(limits.leak, at: now)
        }
      }
      output.check(
        first + 1, isTrue, at: now,
        "\(new) is told, and \(lowest)…\(highest) l/min have flowed for \(period); in force is \(limits.possible)")
    }
    alarm = new
    if case .fault(.flow(let alarm)) = state { held = held ?? ("the fault \(alarm) is told", now) }
  }

  /// - Parameters:
  ///   - new: the valves that are open now; those that were have been until now.
  ///   - awakeSince: since when the loop has run without a break.
  mutating func look(
    open new: UInt64, at now: TickInstant, awakeSince: TickInstant, isExcused: Bool, _ output: inout SwarmOutput,
    _ first: Int
  ) {
    if isExcused, open != 0 { escape = (now, rate) }
    if let late = lateAlarm(at: now, awakeSince: awakeSince) {
      if open == 0 { held = held ?? (late, now) } else { output.check(first, isExcused, at: now, late) }
    }
    if new != open { setLines(new, at: now) }
    guard let held else { return }
    output.check(
      first, open == 0 || isExcused || now <= held.since, at: now,
      "a valve is open, and since \(SwarmAction.text(held.since)) s none may be: \(held.reason)")
  }

  private func hasEscaped(_ limit: FlowSettings.Watch?, at now: TickInstant) -> Bool {
    limit.map { now - escape.at <= $0.over + Self.tick * 2 && escape.rate > $0.litresPerMinute - Self.doubt } ?? false
  }

  /// Which limit should have stopped the water by now, whichever of the possible ones is in force, or `nil` if none.
  private func lateAlarm(at now: TickInstant, awakeSince: TickInstant) -> String? {
    let lines = max(linesSince, wroteAt)
    let start = max(max(lines, rateSince), max(max(limits.since, awakeSince), resetAt))
    // The measurement that runs when all this begins, a whole one, and for each of both a tick that ends it; and what the loop hears late.
    func isLate(_ limit: (FlowLimits) -> FlowSettings.Watch?, settles: Bool, _ isBeyond: (FlowSettings.Watch) -> Bool)
      -> Bool
    {
      limits.possible.allSatisfy { limits in
        guard let limit = limit(limits), limit.reaction == .fault, isBeyond(limit) else { return false }
        let from = settles ? max(start, lines + limit.over) : start
        return now > from + limit.over + limit.over + Self.tick * 4
      }
    }
    if open == 0 {
      let isLeak = isLate(\.leak, settles: true) { rate > $0.litresPerMinute + Self.doubt }
      return isLeak ? "\(rate) l/min have leaked since \(SwarmAction.text(start)) s" : nil
    }
    if isLate(\.highFlow, settles: true, { rate > $0.litresPerMinute + Self.doubt }) {
      return "\(rate) l/min have flowed since \(SwarmAction.text(start)) s, which is too much"
    }
    if isLate(\.noFlow, settles: false, { rate < $0.litresPerMinute - Self.doubt }) {
      return "\(rate) l/min have flowed since \(SwarmAction.text(start)) s, which is too little"
    }
    return nil
  }
}
