import Tactus
import TactusSwarm

/// Plans random operators of legs, a network that loses and delays frames, and faults of the bus and the lane.
enum LegSwarmPlan {
  static func plan(_ plan: inout SwarmPlanner, legs: Int) {
    for leg in 0..<Int64(legs) {
      plan.times(1...4) { plan in session(of: leg, from: plan.busyInstant(), &plan) }
      plan.times(0...6) { plan in
        let at = plan.instant()
        switch plan.below(5) {
        case 0: plan.add(at, "ask-arm", leg)
        case 1: plan.add(at, "ask-disarm", leg)
        case 2: plan.add(at, "noise", leg, plan.within(0...255))
        default: plan.add(at, "ask-set", leg, plan.within(400...2_600))
        }
      }
    }
    plan.maybe(300, 1...3) { plan in
      let at = plan.instant()
      plan.add(at, plan.chance(300) ? "bus-stuck" : "bus-refuses", 0, plan.within(1...1_000))
      plan.add(at + .milliseconds(plan.within(1...5_000)), "bus-refuses", 0, 0)
    }
    plan.maybe(300, 1...4) { plan in
      let at = plan.instant()
      let leg = plan.within(0...1)
      plan.add(at, "stall", 0, plan.within(10...2_500))
      // A command that comes during the stall waits, and may be too old when it is read.
      plan.maybe(700) { plan in
        let asked = at + .milliseconds(plan.within(21...400))
        plan.add(asked, "ask-arm", leg)
        plan.add(asked, "ask-set", leg, plan.within(1_000...2_000))
      }
    }
    plan.maybe(300, operate)
  }

  /// Plans an operator that arms a leg and moves it for some seconds, at 20 Hz, with pings between.
  private static func session(of leg: Int64, from start: TickInstant, _ plan: inout SwarmPlanner) {
    var at = start
    let (loss, late) = plan.chance(500) ? (0, 0) : (plan.below(300), plan.below(200))
    plan.maybe(800) { $0.add(at, "disarm", leg) }
    at = at + .milliseconds(plan.within(1...100))
    plan.add(at, "arm", leg)
    plan.times(1...120) { plan in
      at = at + .milliseconds(plan.within(20...60))
      if plan.chance(loss) { return }
      let arrives = at + .milliseconds(plan.chance(late) ? plan.within(50...600) : 0)
      if plan.chance(700) {
        plan.add(arrives, "set", leg, plan.within(400...2_600))
      } else {
        plan.add(arrives, "ping", leg)
      }
    }
  }

  /// Plans a person with the operator's program of the first leg: the slider, the buttons, and a link as bad as the seed determines.
  private static func operate(_ plan: inout SwarmPlanner) {
    var start = plan.instant()
    plan.add(start, "op-start", 0)
    plan.times(1...4) { plan in
      var at = plan.busyInstant()
      start = min(start, at)
      plan.maybe(700) { plan in
        plan.add(at, "op-arm", 0)
        at = at + .milliseconds(plan.within(0...400))
        plan.add(at, "op-periodic", 0, 1)
      }
      plan.times(1...12) { plan in
        let width = plan.within(400...2_600)
        switch plan.below(12) {
        case 0: plan.add(at, "op-arm", 0)
        case 1: plan.add(at, "op-disarm", 0)
        case 2...3: plan.add(at, "op-send", 0, width)
        case 4: plan.add(at, "op-ping", 0)
        case 5...6: plan.add(at, "op-periodic", 0, plan.within(0...1))
        default: plan.add(at, "op-aim", 0, width)
        }
        at = at + .milliseconds(plan.within(0...1_500))
      }
    }
    plan.maybe(200) { $0.add($0.instant(), "op-start", 0) }
    plan.maybe(200) { $0.add($0.instant(), "op-quit", 0) }
    SwarmLink.plan(from: start, &plan)
  }
}
