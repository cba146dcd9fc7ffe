import LegDaemon
import Tactus
import TactusDaemon
import TactusSwarm

/// Random operators of legs, a network that loses and delays, and faults of the bus and the lane.
enum LegSwarmPlan {
  static func actions(
    until end: TickInstant, around incidents: [TickInstant], legs: Int, _ random: inout SplitMix64
  ) -> [SwarmAction] {
    var actions: [SwarmAction] = []
    for leg in 0..<Int64(legs) {
      for _ in 0..<random.within(1...4) {
        session(of: leg, from: random.instant(until: end, before: incidents), &random, &actions)
      }
      for _ in 0..<random.within(0...6) {
        let at = random.instant(until: end)
        switch random.below(5) {
        case 0: actions.append(SwarmAction(at, "leg", "ask-arm", leg))
        case 1: actions.append(SwarmAction(at, "leg", "ask-disarm", leg))
        case 2: actions.append(SwarmAction(at, "leg", "noise", leg, random.within(0...255)))
        default: actions.append(SwarmAction(at, "leg", "ask-set", leg, random.within(400...2_600)))
        }
      }
    }
    faults(until: end, &random, &actions)
    if random.chance(perMille: 300) { operate(until: end, around: incidents, &random, &actions) }
    return actions
  }

  /// Somebody arms a leg and moves it for some seconds, at 20 Hz, with pings between.
  private static func session(
    of leg: Int64, from start: TickInstant, _ random: inout SplitMix64, _ actions: inout [SwarmAction]
  ) {
    var at = start
    let (loss, late) =
      random.chance(perMille: 500) ? (0, 0) : (Int(clamping: random.below(300)), Int(clamping: random.below(200)))
    if random.chance(perMille: 800) { actions.append(SwarmAction(at, "leg", "disarm", leg)) }
    at = at + .milliseconds(random.within(1...100))
    actions.append(SwarmAction(at, "leg", "arm", leg))
    for _ in 0..<random.within(1...120) {
      at = at + .milliseconds(random.within(20...60))
      if random.chance(perMille: loss) { continue }
      let arrives = at + .milliseconds(random.chance(perMille: late) ? random.within(50...600) : 0)
      if random.chance(perMille: 700) {
        actions.append(SwarmAction(arrives, "leg", "set", leg, random.within(400...2_600)))
      } else {
        actions.append(SwarmAction(arrives, "leg", "ping", leg))
      }
    }
  }

  private static func faults(
    until end: TickInstant, _ random: inout SplitMix64, _ actions: inout [SwarmAction]
  ) {
    if random.chance(perMille: 300) {
      for _ in 0..<random.within(1...3) {
        let at = random.instant(until: end)
        let isStuck = random.chance(perMille: 300)
        actions.append(SwarmAction(at, "leg", isStuck ? "bus-stuck" : "bus-refuses", 0, random.within(1...1_000)))
        actions.append(SwarmAction(at + .milliseconds(random.within(1...5_000)), "leg", "bus-refuses", 0, 0))
      }
    }
    if random.chance(perMille: 300) {
      for _ in 0..<random.within(1...4) {
        let at = random.instant(until: end)
        let leg = random.within(0...1)
        actions.append(SwarmAction(at, "leg", "stall", 0, random.within(10...2_500)))
        // What is asked meanwhile waits, and may be too old when it is taken.
        if random.chance(perMille: 700) {
          let asked = at + .milliseconds(random.within(21...400))
          actions.append(SwarmAction(asked, "leg", "ask-arm", leg))
          actions.append(SwarmAction(asked, "leg", "ask-set", leg, random.within(1_000...2_000)))
        }
      }
    }
  }

  /// A person with the operator's program of the first leg: its slider and its buttons, and a link as bad as the seed wants it.
  private static func operate(
    until end: TickInstant, around incidents: [TickInstant], _ random: inout SplitMix64,
    _ actions: inout [SwarmAction]
  ) {
    var start = random.instant(until: end)
    actions.append(SwarmAction(start, "leg", "op-start", 0))
    for _ in 0..<random.within(1...4) {
      var at = random.instant(until: end, before: incidents)
      start = min(start, at)
      if random.chance(perMille: 700) {
        actions.append(SwarmAction(at, "leg", "op-arm", 0))
        at = at + .milliseconds(random.within(0...400))
        actions.append(SwarmAction(at, "leg", "op-periodic", 0, 1))
      }
      for _ in 0..<random.within(1...12) {
        let width = random.within(400...2_600)
        switch random.below(12) {
        case 0: actions.append(SwarmAction(at, "leg", "op-arm", 0))
        case 1: actions.append(SwarmAction(at, "leg", "op-disarm", 0))
        case 2...3: actions.append(SwarmAction(at, "leg", "op-send", 0, width))
        case 4: actions.append(SwarmAction(at, "leg", "op-ping", 0))
        case 5...6: actions.append(SwarmAction(at, "leg", "op-periodic", 0, random.within(0...1)))
        default: actions.append(SwarmAction(at, "leg", "op-aim", 0, width))
        }
        at = at + .milliseconds(random.within(0...1_500))
      }
    }
    if random.chance(perMille: 200) { actions.append(SwarmAction(random.instant(until: end), "leg", "op-start", 0)) }
    if random.chance(perMille: 200) { actions.append(SwarmAction(random.instant(until: end), "leg", "op-quit", 0)) }
    actions += SwarmLink.plan("leg", from: start, until: end, &random)
  }
}
