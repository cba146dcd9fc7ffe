import RobotDaemon
import Tactus
import TactusDaemon
import TactusSwarm

/// Random senders, a network that loses, delays, doubles and reorders, and faults of the bus and the lane.
enum RobotSwarmPlan {
  static func actions(
    until end: TickInstant, around incidents: [TickInstant], senders: Int, _ random: inout SplitMix64
  ) -> [SwarmAction] {
    var actions: [SwarmAction] = []
    for sender in 0..<senders where sender == 0 || random.chance(perMille: 300) {
      for _ in 0..<random.within(1...3) {
        session(of: sender, from: random.instant(until: end, before: incidents), &random, &actions)
      }
    }
    requests(until: end, &random, &actions)
    if random.chance(perMille: 300) {
      for _ in 0..<random.within(1...6) {
        let numbers = (0..<4).map { _ in random.within(0...255) }
        actions.append(
          SwarmAction(
            random.instant(until: end), "robot", "noise", random.within(0...2), numbers[0], numbers[1], numbers[2],
            numbers[3]))
      }
    }
    faults(until: end, &random, &actions)
    if random.chance(perMille: 300) { operate(until: end, around: incidents, &random, &actions) }
    return actions
  }

  /// Somebody drives for some seconds at 20 Hz, or at half of it, over a network as bad as the seed wants it.
  private static func session(
    of sender: Int, from start: TickInstant, _ random: inout SplitMix64, _ actions: inout [SwarmAction]
  ) {
    var at = start
    let (count, period) = (random.within(1...120), random.chance(perMille: 800) ? Int64(50) : 100)
    let isBad = random.chance(perMille: 500)
    let (loss, again) = (isBad ? Int(random.within(0...400)) : 0, isBad ? Int(random.within(0...200)) : 0)
    let held = isBad ? Int(random.within(0...200)) : 0
    let hasStamps = random.chance(perMille: 850)
    var clock = random.within(1_000_000...2_000_000)
    var speeds = (random.within(-100...100), random.within(-100...100))
    for _ in 0..<count {
      if random.chance(perMille: 30) { speeds = (random.within(-100...100), random.within(-100...100)) }
      if random.chance(perMille: 15) { speeds = (0, 0) }
      let drive = { (at: TickInstant) in
        SwarmAction(at, "robot", "drive", Int64(sender), speeds.0, speeds.1, hasStamps ? clock : -1)
      }
      if !random.chance(perMille: loss) {
        actions.append(drive(at + .milliseconds(random.chance(perMille: held) ? random.within(60...900) : 0)))
      }
      if random.chance(perMille: again) { actions.append(drive(at + .milliseconds(random.within(0...3_000)))) }
      if random.chance(perMille: 6) {
        let verb = ["stop", "e-stop", "reset", "reset"][Int(clamping: random.below(4))]
        actions.append(SwarmAction(at + .milliseconds(random.within(0...20)), "robot", verb, Int64(sender)))
      }
      at = at + .milliseconds(period)
      clock += period
    }
  }

  private static func requests(
    until end: TickInstant, _ random: inout SplitMix64, _ actions: inout [SwarmAction]
  ) {
    guard random.chance(perMille: 600) else { return }
    for _ in 0..<random.within(1...30) {
      let at = random.instant(until: end)
      switch random.below(8) {
      case 0: actions.append(SwarmAction(at, "robot", "ask-stop"))
      case 1: actions.append(SwarmAction(at, "robot", "ask-e-stop"))
      case 2: actions.append(SwarmAction(at, "robot", "ask-reset"))
      default:
        actions.append(
          SwarmAction(at, "robot", "ask-drive", 0, random.within(-100...100), random.within(-100...100)))
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
        actions.append(SwarmAction(at, "robot", isStuck ? "bus-stuck" : "bus-refuses", random.within(1...1_000)))
        actions.append(SwarmAction(at + .milliseconds(random.within(1...5_000)), "robot", "bus-refuses", 0))
      }
    }
    if random.chance(perMille: 300) {
      for _ in 0..<random.within(1...4) {
        let at = random.instant(until: end)
        actions.append(SwarmAction(at, "robot", "stall", random.within(10...2_500)))
        // What is asked meanwhile waits, and may be too old when it is taken.
        if random.chance(perMille: 700) {
          let asked = at + .milliseconds(random.within(51...600))
          actions.append(SwarmAction(asked, "robot", "ask-drive", 0, random.within(1...100), random.within(1...100)))
        }
      }
    }
  }

  /// A person with the operator's program: a stick that is moved every now and then, its buttons, and a link as bad as the seed wants it.
  private static func operate(
    until end: TickInstant, around incidents: [TickInstant], _ random: inout SplitMix64,
    _ actions: inout [SwarmAction]
  ) {
    var start = random.instant(until: end)
    actions.append(SwarmAction(start, "robot", "op-start"))
    for _ in 0..<random.within(1...4) {
      var at = random.instant(until: end, before: incidents)
      start = min(start, at)
      for _ in 0..<random.within(1...12) {
        switch random.below(12) {
        case 0: actions.append(SwarmAction(at, "robot", "op-stop"))
        case 1: actions.append(SwarmAction(at, "robot", "op-e-stop"))
        case 2...3:
          actions.append(SwarmAction(at, "robot", "op-stick", 0, 0))
          actions.append(SwarmAction(at + .milliseconds(random.within(0...300)), "robot", "op-reset"))
        case 4: actions.append(SwarmAction(at, "robot", "op-stick", 0, 0))
        default:
          actions.append(
            SwarmAction(at, "robot", "op-stick", random.within(-100...100), random.within(-100...100)))
        }
        at = at + .milliseconds(random.within(0...1_500))
      }
    }
    if random.chance(perMille: 200) { actions.append(SwarmAction(random.instant(until: end), "robot", "op-start")) }
    if random.chance(perMille: 200) { actions.append(SwarmAction(random.instant(until: end), "robot", "op-quit")) }
    actions += SwarmLink.plan("robot", from: start, until: end, &random)
  }
}
