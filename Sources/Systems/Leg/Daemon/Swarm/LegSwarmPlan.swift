import Tactus
import TactusDaemon

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
    return actions
  }

  /// Somebody arms a leg and moves it for some seconds, at 20 Hz, with pings between.
  private static func session(
    of leg: Int64, from start: TickInstant, _ random: inout SplitMix64, _ actions: inout [SwarmAction]
  ) {
    var at = start
    let (loss, late) = random.chance(perMille: 500) ? (0, 0) : (Int(random.below(300)), Int(random.below(200)))
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
}
