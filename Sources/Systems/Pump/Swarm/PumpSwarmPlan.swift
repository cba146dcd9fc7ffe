import PumpDaemon
import Tactus
import TactusDaemon
import TactusSwarm

/// Random apps of a pump, an operator on a bad wire, and faults of its output and its lane.
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
    if random.chance(perMille: 300) { operate(until: end, around: incidents, &random, &actions) }
    return actions
  }

  /// A person with the operator's program, and a wire as bad as the seed wants it.
  private static func operate(
    until end: TickInstant, around incidents: [TickInstant], _ random: inout SplitMix64, _ actions: inout [SwarmAction]
  ) {
    actions.append(SwarmAction(random.instant(until: end), "pump", "op-start"))
    for _ in 0..<random.within(2...25) {
      let at = random.instant(until: end, before: incidents)
      switch random.below(12) {
      case 0...3: actions.append(SwarmAction(at, "pump", "op-on", random.within(-50...100)))
      case 4...5: actions.append(SwarmAction(at, "pump", "op-off"))
      case 6...7: actions.append(SwarmAction(at, "pump", "op-speed", random.within(0...100)))
      case 8: actions.append(SwarmAction(at, "pump", "op-e-stop"))
      case 9: actions.append(SwarmAction(at, "pump", "op-reset"))
      case 10: actions.append(SwarmAction(at, "pump", "op-look"))
      default: actions.append(SwarmAction(at, "pump", "op-read"))
      }
    }
    if random.chance(perMille: 300) { actions.append(SwarmAction(random.instant(until: end), "pump", "op-start")) }
    if random.chance(perMille: 200) { actions.append(SwarmAction(random.instant(until: end), "pump", "op-quit")) }
    if random.chance(perMille: 400) {
      let at = random.instant(until: end)
      actions.append(SwarmAction(at, "pump", "wire", random.within(0...50), random.within(0...50)))
      actions.append(SwarmAction(at + .milliseconds(random.within(100...20_000)), "pump", "wire", 0, 0))
    }
    for _ in 0..<random.within(0...3) {
      let at = random.instant(until: end)
      let over = at + .milliseconds(random.within(100...8_000))
      if random.chance(perMille: 400) {
        actions.append(SwarmAction(at, "pump", "op-plug", 0))
        actions.append(SwarmAction(over, "pump", "op-plug", 1))
      } else {
        let there = random.within(0...1)
        actions.append(SwarmAction(at, "pump", "wire-dead", there, random.within(1 - there...1)))
        actions.append(SwarmAction(over, "pump", "wire-dead", 0, 0))
      }
    }
  }
}
