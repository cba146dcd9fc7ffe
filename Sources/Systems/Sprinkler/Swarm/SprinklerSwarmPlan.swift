import Sprinkler
import Tactus
import TactusSwarm

/// Plans random commands of clients, and faults of the lines, the lane and the store.
enum SprinklerSwarmPlan {
  static func plan(_ plan: inout SwarmPlanner) {
    plan.times(2...40) { plan in
      let at = plan.busyInstant()
      let (zone, seconds) = (plan.within(zones), plan.within(1...12))
      switch plan.below(20) {
      case 0...4: plan.add(at, "zone-on", zone, seconds)
      case 5: plan.add(at, "zone-extend", zone, seconds)
      case 6...7: plan.add(at, "zone-off", zone)
      case 8...9: plan.add(at, "run-once", zone, seconds, plan.within(zones), plan.within(1...12))
      case 10...11: plan.add(at, "add-program", zone, seconds, plan.within(719...721))
      case 12: plan.add(at, "run-program", plan.within(1...4))
      case 13: plan.add(at, "remove-program", plan.within(1...4))
      case 14: plan.add(at, ["skip", "clear-queue", "stop-all"][plan.below(3)])
      case 15: plan.add(at, "pause", plan.within(1...10))
      case 16: plan.add(at, "resume")
      case 17: plan.add(at, "ask-e-stop")
      case 18: plan.add(at, "ask-reset")
      default: plan.add(at, "rain", plan.within(0...20))
      }
    }
    plan.maybe(150) { $0.addFault("lines-gone", milliseconds: 1...5_000) }
    plan.maybe(250) { $0.addFault("disk-full", milliseconds: 1...10_000) }
    plan.maybe(400, 1...3) { $0.add($0.instant(), "crash-in-write", $0.within(0...1)) }
    plan.maybe(200, 1...2) { $0.add($0.instant(), "clock", $0.within(-3_600...3_600)) }
    plan.maybe(200, 1...2) { $0.add($0.instant(), "stall", $0.within(10...4_000)) }
    water(&plan)
  }

  private static let zones = 1...Int64(SprinklerSwarm.zones)

  /// Plans faults of the water supply (the main is shut, a pipe bursts), and the resets by clients that follow an alarm.
  private static func water(_ plan: inout SwarmPlanner) {
    plan.maybe(200) { plan in
      let at = plan.instant()
      let (verb, value) = plan.chance(400) ? ("water-gone", 1) : ("pipe-bursts", plan.within(2...60))
      let over = at + .milliseconds(plan.within(500...15_000))
      plan.add(at, verb, value)
      plan.add(over, verb, 0)
      plan.add(over + .milliseconds(plan.within(0...4_000)), "ask-reset")
    }
    plan.maybe(500, 1...4) { plan in
      let (at, zone) = (plan.instant(), plan.within(zones))
      plan.add(at, "ask-reset")
      plan.add(at + .milliseconds(plan.within(0...1_500)), "zone-on", zone, 12)
    }
  }

  /// Returns the client's command of a line of a history, or `nil` if the line is not a command.
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
}
