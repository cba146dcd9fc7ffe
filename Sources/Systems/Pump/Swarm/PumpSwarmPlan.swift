import Tactus
import TactusSwarm

/// Plans random apps of a pump, an operator on a faulty wire, and faults of the output and the lane.
enum PumpSwarmPlan {
  static func plan(_ plan: inout SwarmPlanner) {
    plan.times(2...30) { plan in
      let at = plan.busyInstant()
      switch plan.below(12) {
      case 0...3: plan.add(at, "line-on")
      case 4...5: plan.add(at, "ask-on")
      case 6: plan.add(at, "line-off")
      case 7: plan.add(at, "ask-off")
      case 8: plan.add(at, "line-speed", plan.within(0...100))
      case 9: plan.add(at, "line-noise", plan.within(0...9))
      case 10: plan.add(at, "ask-e-stop")
      default: plan.add(at, "ask-reset")
      }
    }
    plan.maybe(200) { $0.addFault("output-gone", milliseconds: 1...5_000) }
    plan.maybe(300, 1...3) { plan in
      let at = plan.instant()
      plan.add(at, "stall", plan.within(10...2_500))
      // An ON that is requested during the stall waits, and may be too old when the loop takes it.
      plan.maybe(700) { $0.add(at + .milliseconds($0.within(51...900)), "ask-on") }
    }
    plan.maybe(300, operate)
  }

  /// Plans a person with the operator's program, and the faults of the wire.
  private static func operate(_ plan: inout SwarmPlanner) {
    plan.add(plan.instant(), "op-start")
    plan.times(2...25) { plan in
      let at = plan.busyInstant()
      switch plan.below(12) {
      case 0...3: plan.add(at, "op-on", plan.within(-50...100))
      case 4...5: plan.add(at, "op-off")
      case 6...7: plan.add(at, "op-speed", plan.within(0...100))
      case 8: plan.add(at, "op-e-stop")
      case 9: plan.add(at, "op-reset")
      case 10: plan.add(at, "op-look")
      default: plan.add(at, "op-read")
      }
    }
    plan.maybe(300) { $0.add($0.instant(), "op-start") }
    plan.maybe(200) { $0.add($0.instant(), "op-quit") }
    plan.maybe(400) { plan in
      let at = plan.instant()
      plan.add(at, "wire", plan.within(0...50), plan.within(0...50))
      plan.add(at + .milliseconds(plan.within(100...20_000)), "wire", 0, 0)
    }
    plan.times(0...3) { plan in
      let at = plan.instant()
      let over = at + .milliseconds(plan.within(100...8_000))
      if plan.chance(400) {
        plan.add(at, "op-plug", 0)
        plan.add(over, "op-plug", 1)
      } else {
        let there = plan.within(0...1)
        plan.add(at, "wire-dead", there, plan.within(1 - there...1))
        plan.add(over, "wire-dead", 0, 0)
      }
    }
  }
}
