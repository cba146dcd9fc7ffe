@_spi(FromOutside) import Conversions
import Tactus

/// Makes the history of a seed.
enum SwarmPlan {
  /// Returns the history of a seed.
  ///
  /// - Parameter parts: the parts. Each draws from its own random stream, so that a change of one part leaves the actions of the others unchanged.
  static func history(seed: UInt64, end: TickInstant, _ parts: [any SwarmPart]) -> SwarmHistory {
    var daemon = SwarmPlanner("daemon", until: end, stream("daemon", of: seed))
    plan(&daemon)
    var actions = daemon.actions
    let incidents = actions.map(\.at).filter { $0 <= end }
    for part in parts {
      var planner = SwarmPlanner(part.name, until: end, around: incidents, stream(part.name, of: seed))
      part.plan(&planner)
      actions += planner.actions.filter { $0.at <= end }
    }
    // A sort that is not stable would be another history on another machine.
    let sorted = actions.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
    return SwarmHistory(seed: seed, end: end, actions: sorted.map(\.element))
  }

  /// Returns the random stream of one name under one seed.
  static func stream(_ name: String, of seed: UInt64) -> SplitMix64 {
    // FNV-1a, since Swift's own hash differs in every process.
    let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    var first = SplitMix64(seed: seed)
    return SplitMix64(seed: first.next() ^ hash)
  }

  /// Plans the actions on the process, and on every system at once.
  private static func plan(_ plan: inout SwarmPlanner) {
    func some(_ perMille: Int, _ most: Int64, _ verb: String, _ numbers: ClosedRange<Int64>) {
      plan.maybe(perMille, 1...most) { $0.add($0.instant(), verb, $0.within(numbers)) }
    }
    some(400, 3, "kill", 20...4_000)
    some(300, 2, "freeze", 20...2_500)
    plan.maybe(400, 1...3) { plan in
      let at = plan.instant()
      plan.add(at, "estop")
      plan.add(at + .milliseconds(plan.within(0...8_000)), "reset")
    }
    some(250, 2, "loop-hangs", 800...2_500)
    plan.maybe(500, 1...3, guards)
    some(200, 2, "stop", 20...4_000)
    some(300, 3, "reload", 0...2)
  }

  /// Plans the actions on the guard, and on guard and daemon at once.
  private static func guards(_ plan: inout SwarmPlanner) {
    let at = plan.instant()
    var after = at + .milliseconds(plan.within(0...3_000))
    switch plan.below(5) {
    case 0:
      // One time in ten the guard is killed so often that no other one is started.
      for index in 0..<(plan.chance(100) ? Int64(15) : 1) { plan.add(at + .milliseconds(index * 150), "guard-kill") }
    case 1...2:
      plan.add(at, "guard-hang")
      plan.maybe(300) { $0.add(after, "guard-resume") }
    case 3: plan.add(at, "kill-both", plan.within(20...4_000))
    default:
      plan.add(at, "guard-fails", plan.within(500...8_000), plan.within(0...1))
      plan.add(at, "guard-\(plan.chance(500) ? "kill" : "hang")")
      after = after + .milliseconds(plan.within(0...8_000))
      plan.add(after, "reset")
    }
    // These are the failures for which the daemon has a guard.
    switch plan.below(5) {
    case 0...1: plan.add(after, "kill", plan.within(20...4_000))
    case 2...3: plan.add(after, "freeze", plan.within(500...2_500))
    default: break
    }
  }
}
