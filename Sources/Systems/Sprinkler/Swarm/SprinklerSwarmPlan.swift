import Sprinkler
import SprinklerDaemon
import Tactus
import TactusDaemon
import TactusSwarm

/// Random people who water, and faults of the lines, the lane and the store.
enum SprinklerSwarmPlan {
  static func actions(
    until end: TickInstant, around incidents: [TickInstant], _ random: inout SplitMix64
  ) -> [SwarmAction] {
    var actions: [SwarmAction] = []
    for _ in 0..<random.within(2...40) {
      let at = random.instant(until: end, before: incidents)
      let (zone, seconds) = (random.within(1...Int64(SprinklerSwarm.zones)), random.within(1...12))
      switch random.below(20) {
      case 0...4: actions.append(SwarmAction(at, "sprinkler", "zone-on", zone, seconds))
      case 5: actions.append(SwarmAction(at, "sprinkler", "zone-extend", zone, seconds))
      case 6...7: actions.append(SwarmAction(at, "sprinkler", "zone-off", zone))
      case 8...9:
        let next = random.within(1...Int64(SprinklerSwarm.zones))
        actions.append(SwarmAction(at, "sprinkler", "run-once", zone, seconds, next, random.within(1...12)))
      case 10...11: actions.append(SwarmAction(at, "sprinkler", "add-program", zone, seconds, random.within(719...721)))
      case 12: actions.append(SwarmAction(at, "sprinkler", "run-program", random.within(1...4)))
      case 13: actions.append(SwarmAction(at, "sprinkler", "remove-program", random.within(1...4)))
      case 14:
        actions.append(
          SwarmAction(at, "sprinkler", ["skip", "clear-queue", "stop-all"][Int(clamping: random.below(3))]))
      case 15: actions.append(SwarmAction(at, "sprinkler", "pause", random.within(1...10)))
      case 16: actions.append(SwarmAction(at, "sprinkler", "resume"))
      case 17: actions.append(SwarmAction(at, "sprinkler", "ask-e-stop"))
      case 18: actions.append(SwarmAction(at, "sprinkler", "ask-reset"))
      default: actions.append(SwarmAction(at, "sprinkler", "rain", random.within(0...20)))
      }
    }
    faults(until: end, &random, &actions)
    water(until: end, &random, &actions)
    return actions
  }

  /// A person's command of a line of a history; `nil` if the line is not one.
  static func command(_ action: SwarmAction) -> SprinklerCommand? {
    let (zone, seconds) = (ZoneID(Int(action[0])), Int(action[1]))
    switch action.verb {
    case "zone-on": return zone.map { .zoneOn($0, seconds: seconds) }
    case "zone-extend": return zone.map { .zoneExtend($0, seconds: seconds) }
    case "zone-off": return zone.map { .zoneOff($0) }
    case "run-once":
      guard let zone, let next = ZoneID(Int(action[2])) else { return nil }
      return .runOnce([.init(zone: zone, seconds: seconds), .init(zone: next, seconds: Int(action[3]))])
    case "add-program":
      return zone.map {
        .addProgram(
          Program(
            id: 0, name: "program", days: .weekdays(0x7F), starts: [.clock(minute: Int(action[2]))],
            steps: [.init(zone: $0, seconds: seconds)]))
      }
    case "run-program": return .runProgram(id: Int(action[0]))
    case "remove-program": return .removeProgram(id: Int(action[0]))
    case "skip": return .skip
    case "clear-queue": return .clearQueue
    case "stop-all": return .stopAll
    case "pause": return .pause(seconds: Int(action[0]))
    case "resume": return .resume
    case "rain": return action[0] > 0 ? .setRainDelay(seconds: Int(action[0])) : .cancelRainDelay
    default: return nil
    }
  }

  private static func faults(
    until end: TickInstant, _ random: inout SplitMix64, _ actions: inout [SwarmAction]
  ) {
    if random.chance(perMille: 150) {
      let at = random.instant(until: end)
      actions.append(SwarmAction(at, "sprinkler", "lines-gone", 1))
      actions.append(SwarmAction(at + .milliseconds(random.within(1...5_000)), "sprinkler", "lines-gone", 0))
    }
    if random.chance(perMille: 250) {
      let at = random.instant(until: end)
      actions.append(SwarmAction(at, "sprinkler", "disk-full", 1))
      actions.append(SwarmAction(at + .milliseconds(random.within(1...10_000)), "sprinkler", "disk-full", 0))
    }
    if random.chance(perMille: 400) {
      for _ in 0..<random.within(1...3) {
        actions.append(
          SwarmAction(random.instant(until: end), "sprinkler", "crash-in-write", random.within(0...1)))
      }
    }
    if random.chance(perMille: 200) {
      for _ in 0..<random.within(1...2) {
        actions.append(SwarmAction(random.instant(until: end), "sprinkler", "clock", random.within(-3_600...3_600)))
      }
    }
    if random.chance(perMille: 200) {
      for _ in 0..<random.within(1...2) {
        actions.append(SwarmAction(random.instant(until: end), "sprinkler", "stall", random.within(10...4_000)))
      }
    }
  }

  /// The main is shut, or a pipe bursts; and people who find that the flow has stopped everything.
  private static func water(
    until end: TickInstant, _ random: inout SplitMix64, _ actions: inout [SwarmAction]
  ) {
    if random.chance(perMille: 200) {
      let at = random.instant(until: end)
      let (verb, value) = random.chance(perMille: 400) ? ("water-gone", 1) : ("pipe-bursts", random.within(2...60))
      let over = at + .milliseconds(random.within(500...15_000))
      actions.append(SwarmAction(at, "sprinkler", verb, value))
      actions.append(SwarmAction(over, "sprinkler", verb, 0))
      actions.append(SwarmAction(over + .milliseconds(random.within(0...4_000)), "sprinkler", "ask-reset"))
    }
    if random.chance(perMille: 500) {
      for _ in 0..<random.within(1...4) {
        let (at, zone) = (random.instant(until: end), random.within(1...Int64(SprinklerSwarm.zones)))
        actions.append(SwarmAction(at, "sprinkler", "ask-reset"))
        actions.append(SwarmAction(at + .milliseconds(random.within(0...1_500)), "sprinkler", "zone-on", zone, 12))
      }
    }
  }
}
