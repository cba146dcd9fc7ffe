import Tactus
import TactusDaemon

/// Random apps of a pump, and faults of its output and its lane.
enum PumpSwarmPlan {
  static func actions(
    until end: TickInstant, around incidents: [TickInstant], _ random: inout SplitMix64
  ) -> [SwarmAction] {
    var actions: [SwarmAction] = []
    for _ in 0..<random.within(2...30) {
      let at = random.instant(until: end, before: incidents)
      switch random.below(12) {
      case 0...3: actions.append(SwarmAction(at, "pump", "line-on"))
      case 4...5: actions.append(SwarmAction(at, "pump", "ask-on"))
      case 6: actions.append(SwarmAction(at, "pump", "line-off"))
      case 7: actions.append(SwarmAction(at, "pump", "ask-off"))
      case 8: actions.append(SwarmAction(at, "pump", "line-speed", random.within(0...100)))
      case 9: actions.append(SwarmAction(at, "pump", "line-noise", random.within(0...9)))
      case 10: actions.append(SwarmAction(at, "pump", "ask-e-stop"))
      default: actions.append(SwarmAction(at, "pump", "ask-reset"))
      }
    }
    if random.chance(perMille: 200) {
      let at = random.instant(until: end)
      actions.append(SwarmAction(at, "pump", "output-gone", 1))
      actions.append(SwarmAction(at + .milliseconds(random.within(1...5_000)), "pump", "output-gone", 0))
    }
    if random.chance(perMille: 300) {
      for _ in 0..<random.within(1...3) {
        let at = random.instant(until: end)
        actions.append(SwarmAction(at, "pump", "stall", random.within(10...2_500)))
        // What is asked meanwhile waits, and may be too old when it is taken.
        if random.chance(perMille: 700) {
          actions.append(SwarmAction(at + .milliseconds(random.within(51...900)), "pump", "ask-on"))
        }
      }
    }
    return actions
  }
}
