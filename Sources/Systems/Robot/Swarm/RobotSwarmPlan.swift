import Tactus
import TactusSwarm

/// Plans random senders, a network that loses, delays, duplicates and reorders datagrams, and faults of the bus and the lane.
enum RobotSwarmPlan {
  static func plan(_ plan: inout SwarmPlanner, senders: Int) {
    for sender in 0..<Int64(senders) where sender == 0 || plan.chance(300) {
      plan.times(1...3) { plan in session(of: sender, from: plan.busyInstant(), &plan) }
    }
    plan.maybe(600, 1...30) { plan in
      let at = plan.instant()
      switch plan.below(8) {
      case 0: plan.add(at, "ask-stop")
      case 1: plan.add(at, "ask-e-stop")
      case 2: plan.add(at, "ask-reset")
      default: plan.add(at, "ask-drive", 0, plan.within(-100...100), plan.within(-100...100))
      }
    }
    plan.maybe(300, 1...6) { plan in
      let bytes = (0..<4).map { _ in plan.within(0...255) }
      plan.add(plan.instant(), "noise", [plan.within(0...2)] + bytes)
    }
    plan.maybe(300, 1...3) { plan in
      let at = plan.instant()
      plan.add(at, plan.chance(300) ? "bus-stuck" : "bus-refuses", plan.within(1...1_000))
      plan.add(at + .milliseconds(plan.within(1...5_000)), "bus-refuses", 0)
    }
    plan.maybe(300, 1...4) { plan in
      let at = plan.instant()
      plan.add(at, "stall", plan.within(10...2_500))
      // A command that comes during the stall waits, and may be too old when it is read.
      plan.maybe(700) { plan in
        let asked = at + .milliseconds(plan.within(51...600))
        plan.add(asked, "ask-drive", 0, plan.within(1...100), plan.within(1...100))
      }
    }
    plan.maybe(300, operate)
  }

  /// Plans a drive of some seconds at 20 or 10 Hz, over a network as bad as the seed determines.
  private static func session(of sender: Int64, from start: TickInstant, _ plan: inout SwarmPlanner) {
    var at = start
    let (count, period) = (plan.within(1...120), plan.chance(800) ? Int64(50) : 100)
    let isBad = plan.chance(500)
    func share(_ most: Int64, _ plan: inout SwarmPlanner) -> Int { isBad ? Int(clamping: plan.within(0...most)) : 0 }
    let (loss, again, held) = (share(400, &plan), share(200, &plan), share(200, &plan))
    let hasStamps = plan.chance(850)
    var clock = plan.within(1_000_000...2_000_000)
    var speeds = (plan.within(-100...100), plan.within(-100...100))
    for _ in 0..<count {
      if plan.chance(30) { speeds = (plan.within(-100...100), plan.within(-100...100)) }
      if plan.chance(15) { speeds = (0, 0) }
      let drive = [sender, speeds.0, speeds.1, hasStamps ? clock : -1]
      if !plan.chance(loss) {
        plan.add(at + .milliseconds(plan.chance(held) ? plan.within(60...900) : 0), "drive", drive)
      }
      plan.maybe(again) { $0.add(at + .milliseconds($0.within(0...3_000)), "drive", drive) }
      plan.maybe(6) { plan in
        let verb = ["stop", "e-stop", "reset", "reset"][plan.below(4)]
        plan.add(at + .milliseconds(plan.within(0...20)), verb, sender)
      }
      at = at + .milliseconds(period)
      clock += period
    }
  }

  /// Plans a person with the operator's program: a stick that is moved now and then, the buttons, and a link as bad as the seed
  /// determines.
  private static func operate(_ plan: inout SwarmPlanner) {
    var start = plan.instant()
    plan.add(start, "op-start")
    plan.times(1...4) { plan in
      var at = plan.busyInstant()
      start = min(start, at)
      plan.times(1...12) { plan in
        switch plan.below(12) {
        case 0: plan.add(at, "op-stop")
        case 1: plan.add(at, "op-e-stop")
        case 2...3:
          plan.add(at, "op-stick", 0, 0)
          plan.add(at + .milliseconds(plan.within(0...300)), "op-reset")
        case 4: plan.add(at, "op-stick", 0, 0)
        default: plan.add(at, "op-stick", plan.within(-100...100), plan.within(-100...100))
        }
        at = at + .milliseconds(plan.within(0...1_500))
      }
    }
    plan.maybe(200) { $0.add($0.instant(), "op-start") }
    plan.maybe(200) { $0.add($0.instant(), "op-quit") }
    SwarmLink.plan(from: start, &plan)
  }
}
