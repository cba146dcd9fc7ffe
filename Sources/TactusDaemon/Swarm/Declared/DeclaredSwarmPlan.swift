import Tactus
import Wire

/// Random clients of a declared system, made of what its commands declare, and faults of its outputs, its twin and its lane.
enum DeclaredSwarmPlan<System: DeviceSystem> {
  static func actions(
    until end: TickInstant, around incidents: [TickInstant], faults: Int, _ random: inout SplitMix64
  ) -> [SwarmAction] {
    let name = System.name
    let commands = System.commands
    var actions: [SwarmAction] = []
    for _ in 0..<random.within(2...30) {
      let at = random.instant(until: end, before: incidents)
      switch random.below(12) {
      case 0: actions.append(SwarmAction(at, name, "ask-e-stop"))
      case 1...3: actions.append(SwarmAction(at, name, "ask-reset"))
      default:
        guard !commands.isEmpty else { continue }
        let index = Int(clamping: random.below(UInt64(clamping: commands.count)))
        var action = SwarmAction(at, name, "call", Int64(index))
        for _ in commands[index].parameters { action.numbers.append(random.within(-20...1_020)) }
        // A person who finds it stopped asks again.
        if random.chance(perMille: 300) {
          actions.append(SwarmAction(at + .milliseconds(-random.within(0...400)), name, "ask-reset"))
        }
        actions.append(action)
      }
    }
    disturb(until: end, faults, &random, &actions)
    return actions.filter { $0.at >= .zero }
  }

  private static func disturb(
    until end: TickInstant, _ faults: Int, _ random: inout SplitMix64, _ actions: inout [SwarmAction]
  ) {
    let name = System.name
    if random.chance(perMille: 300), faults > 0 {
      let (at, fault) = (random.instant(until: end), random.within(0...Int64(faults - 1)))
      actions.append(SwarmAction(at, name, "fault", fault, 1))
      actions.append(SwarmAction(at + .milliseconds(random.within(1...10_000)), name, "fault", fault, 0))
    }
    if random.chance(perMille: 200) {
      let at = random.instant(until: end)
      actions.append(SwarmAction(at, name, "outputs-refuse", 1))
      actions.append(SwarmAction(at + .milliseconds(random.within(1...5_000)), name, "outputs-refuse", 0))
    }
    if random.chance(perMille: 300) {
      for _ in 0..<random.within(1...3) {
        actions.append(SwarmAction(random.instant(until: end), name, "stall", random.within(10...2_500)))
      }
    }
  }

  /// The command of a line `call COMMAND SHARE…`: of each parameter the share of its range in thousandths, or one that is out of it.
  ///
  /// - Returns: its name, its body and whether all of it is in range; `nil` if the declaration has no such command.
  static func call(_ action: SwarmAction) -> (word: String, body: JSONValue, isInRange: Bool)? {
    let commands = System.commands
    guard commands.indices.contains(Int(clamping: action[0])) else { return nil }
    let command = commands[Int(action[0])]
    var (members, isInRange): ([JSONValue.Member], Bool) = ([], true)
    for (index, parameter) in command.parameters.enumerated() {
      let share = action[index + 1]
      let (value, isIn) = value(of: parameter.kind, share)
      isInRange = isInRange && isIn
      members.append(.init(name: parameter.name, value: value))
    }
    return (command.name, .object(members), isInRange)
  }

  private static func value(of kind: ConfigKind, _ share: Int64) -> (JSONValue, isInRange: Bool) {
    let isInRange = (0...1_000).contains(share)
    switch kind {
    case .integer(let range):
      // Beyond either end by as much as can be said.
      if share < 0 { return (.number("\(range.lowerBound.subtractingReportingOverflow(1).partialValue)"), false) }
      if share > 1_000 { return (.number("\(range.upperBound.addingReportingOverflow(1).partialValue)"), false) }
      let span = Double(range.upperBound) - Double(range.lowerBound)
      let value = range.lowerBound + Int(saturating: span * Double(share) / 1_000)
      return (.number("\(min(range.upperBound, value))"), true)
    case .number(let range):
      let value = range.lowerBound + (range.upperBound - range.lowerBound) * Double(share) / 1_000
      return (.number("\(value)"), isInRange)
    case .boolean: return isInRange ? (.boolean(share >= 500), true) : (.number("2"), false)
    case .choice(let words):
      guard isInRange, !words.isEmpty else { return (.text("none of them"), false) }
      return (.text(words[min(words.count - 1, words.count * Int(share) / 1_000)]), true)
    case .line: return isInRange ? (.text("GPIO\(share % 28)"), true) : (.number("1"), false)
    case .text, .textOrNothing, .logFormat, .address, .pwmOutput, .cpus, .integers, .integerList, .texts,
      .mappings, .alwaysTrue:
      return isInRange ? (.text("text \(share)"), true) : (.number("1"), false)
    }
  }
}
