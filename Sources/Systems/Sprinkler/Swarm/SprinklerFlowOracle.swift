import Sprinkler
import Tactus
import TactusSwarm

/// Checks the limits of the flow while reloads change them, from the valves' lines, the water of the history, and the limits in the files.
struct SprinklerFlowOracle {
  static let names = [
    "flow beyond its limit closes every valve within the time in which it is measured, and none opens before a reset",
    "an alarm is told of flow beyond a limit in force, and of no other",
  ]
  private static let tick = SprinklerLoop.period
  /// The uncertainty of a measurement, l/min: one pulse more or less.
  private static let doubt = 0.5

  /// The limits that may be in force.
  private(set) var limits: SwarmInForce<FlowLimits>
  private var isDry = false
  private var burst = 0.0
  private var open: UInt64 = 0
  /// The instant since which the lines have been unchanged.
  private var linesSince = TickInstant.zero
  /// The least flow since the lines last changed, in l/min.
  private var lowest = 0.0
  /// The greatest flow since the lines last changed, in l/min.
  private var highest = 0.0
  /// The present flow, in l/min.
  private var rate = 0.0
  /// The instant since which the flow has had this rate.
  private var rateSince = TickInstant.zero
  private var resetAt = TickInstant.zero
  private var wroteAt = TickInstant.zero
  /// The last flow through a valve that could not be closed, and its instant. The loop takes that valve for closed, and measures a leak.
  private var escape = (at: TickInstant.zero, rate: 0.0)
  private var alarm: FlowAlarm?
  /// The reason why no valve may open before a reset, and the instant from which it applies; `nil` if valves may open.
  private var held: (reason: String, since: TickInstant)?

  init(_ limits: FlowLimits, at now: TickInstant) { self.limits = SwarmInForce(limits, tick: Self.tick, at: now) }

  // MARK: What is done

  /// Records that a daemon started with these limits in its file.
  mutating func started(_ new: FlowLimits, at now: TickInstant) {
    (limits, alarm, held) = (SwarmInForce(new, tick: Self.tick, at: now), nil, nil)
    setLines(open, at: now)
  }

  mutating func proposed() { limits.proposed() }
  mutating func changed(to new: FlowLimits, at now: TickInstant) { limits.changed(to: new, at: now) }

  /// Records a change of the water supply.
  ///
  /// - Parameter burst: the flow through a burst pipe, in l/min.
  mutating func water(isDry: Bool, burst: Double, at now: TickInstant) {
    (self.isDry, self.burst) = (isDry, burst)
    let before = rate
    rate = flow
    if rate != before { rateSince = now }
    (lowest, highest) = (min(lowest, rate), max(highest, rate))
  }

  /// Records that the loop began a tick.
  ///
  /// - Parameter wasSafe: whether the loop's previous tick confirmed that every line is off.
  mutating func ticked(at now: TickInstant, wasSafe: Bool) {
    // `FlowLimits.tighter` decides which limits are tighter; unit tests cover it.
    limits.ticked(at: now, wasSafe: wasSafe) { $0.tighter(than: $1) }
  }

  /// Records that the loop has carried out a reset.
  mutating func reset(at now: TickInstant) { (held, resetAt) = (nil, now) }

  /// Records that the loop set its lines in this tick. Two writes at one instant restart a measurement, which is not visible from outside.
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

  /// Checks, after a tick, the alarm that the loop reports for the lines as they were before the tick.
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
        // No zone of the swarm has limits of its own.
        case .belowLimit, .aboveLimit: false
        }
      }
      output.check(
        first + 1, isTrue, at: now,
        "\(new) is told, and \(lowest)…\(highest) l/min have flowed for \(period); in force is \(limits.possible)")
    }
    alarm = new
    if case .fault(.flow(let alarm)) = state { held = held ?? ("the fault \(alarm) is told", now) }
  }

  /// Checks the open valves.
  ///
  /// - Parameters:
  ///   - new: the valves that are open from now on; the previous set was open until now.
  ///   - awakeSince: the instant since which the loop has run without interruption.
  mutating func check(
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

  /// Returns a description of the limit that must have stopped the water by now under each of the possible limits, or `nil` if the water may still flow.
  private func lateAlarm(at now: TickInstant, awakeSince: TickInstant) -> String? {
    let lines = max(linesSince, wroteAt)
    let start = max(max(lines, rateSince), max(max(limits.since, awakeSince), resetAt))
    // The time allowed is that of the measurement in progress and of a whole one, each with the tick that ends it, and the delay of the loop's input.
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
