import Tactus

/// Makes the history that belongs to a seed.
enum SwarmPlan {
  /// - Parameter parts: each draws from a stream of its own, so that a change of one leaves the others' actions as they are.
  static func history(seed: UInt64, end: TickInstant, _ parts: [any SwarmPart]) -> SwarmHistory {
    var actions = daemon(until: end, stream("daemon", of: seed))
    let incidents = actions.map(\.at).filter { $0 <= end }
    for part in parts {
      var random = stream(part.name, of: seed)
      actions += part.plan(until: end, around: incidents, &random).filter { $0.at <= end }
    }
    // A sort that is not stable would be another history on another machine.
    let sorted = actions.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
    return SwarmHistory(seed: seed, end: end, actions: sorted.map(\.element))
  }

  /// Random numbers of one name under one seed.
  static func stream(_ name: String, of seed: UInt64) -> SplitMix64 {
    // FNV-1a, since Swift's own hash differs in every process.
    let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    var first = SplitMix64(seed: seed)
    return SplitMix64(seed: first.next() ^ hash)
  }

  /// What is done to the process, and to every system at once.
  private static func daemon(until end: TickInstant, _ stream: SplitMix64) -> [SwarmAction] {
    var random = stream
    var actions: [SwarmAction] = []
    func some(_ perMille: Int, _ most: Int64, _ verb: String, _ numbers: ClosedRange<Int64>) {
      guard random.chance(perMille: perMille) else { return }
      for _ in 0..<random.within(1...most) {
        actions.append(SwarmAction(random.instant(until: end), "daemon", verb, random.within(numbers)))
      }
    }
    some(400, 3, "kill", 20...4_000)
    some(300, 2, "freeze", 20...2_500)
    if random.chance(perMille: 400) {
      for _ in 0..<random.within(1...3) {
        let at = random.instant(until: end)
        actions.append(SwarmAction(at, "daemon", "estop"))
        actions.append(SwarmAction(at + .milliseconds(random.within(0...8_000)), "daemon", "reset"))
      }
    }
    some(250, 2, "loop-hangs", 800...2_500)
    guards(until: end, &random, &actions)
    some(200, 2, "stop", 20...4_000)
    some(300, 3, "reload", 0...2)
    return actions
  }

  /// What is done to the guard, and to both at once.
  private static func guards(until end: TickInstant, _ random: inout SplitMix64, _ actions: inout [SwarmAction]) {
    guard random.chance(perMille: 500) else { return }
    for _ in 0..<random.within(1...3) {
      let at = random.instant(until: end)
      var after = at + .milliseconds(random.within(0...3_000))
      switch random.below(5) {
      case 0:
        // A few of them kill it so often that no other is started.
        for index in 0..<(random.chance(perMille: 100) ? Int64(15) : 1) {
          actions.append(SwarmAction(at + .milliseconds(index * 150), "daemon", "guard-kill"))
        }
      case 1...2:
        actions.append(SwarmAction(at, "daemon", "guard-hang"))
        if random.chance(perMille: 300) { actions.append(SwarmAction(after, "daemon", "guard-resume")) }
      case 3: actions.append(SwarmAction(at, "daemon", "kill-both", random.within(20...4_000)))
      default:
        actions.append(SwarmAction(at, "daemon", "guard-fails", random.within(500...8_000), random.within(0...1)))
        actions.append(SwarmAction(at, "daemon", "guard-\(random.chance(perMille: 500) ? "kill" : "hang")"))
        after = after + .milliseconds(random.within(0...8_000))
        actions.append(SwarmAction(after, "daemon", "reset"))
      }
      // What the daemon has its guard for.
      switch random.below(5) {
      case 0...1: actions.append(SwarmAction(after, "daemon", "kill", random.within(20...4_000)))
      case 2...3: actions.append(SwarmAction(after, "daemon", "freeze", random.within(500...2_500)))
      default: break
      }
    }
  }
}
