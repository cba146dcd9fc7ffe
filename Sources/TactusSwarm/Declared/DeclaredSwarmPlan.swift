@_spi(FromOutside) import Conversions
import Tactus
import TactusDaemon
import Wire

/// Plans random clients of a declared system, derived from the declarations of its commands, and faults of its outputs,
/// its device model and its lane.
enum DeclaredSwarmPlan<System: DeviceSystem> {
  static func plan(_ plan: inout SwarmPlanner, faults: Int) {
    let commands = System.commands
    plan.times(2...30) { plan in
      let at = plan.busyInstant()
      switch plan.below(12) {
      case 0: plan.add(at, "ask-e-stop")
      case 1...3: plan.add(at, "ask-reset")
      default:
        guard !commands.isEmpty else { return }
        let index = plan.below(UInt64(clamping: commands.count))
        let shares = commands[index].parameters.map { _ in plan.within(-20...1_020) }
        // A client that finds the system stopped first requests a reset.
        plan.maybe(300) { plan in
          let asked = at + .milliseconds(-plan.within(0...400))
          if asked >= .zero { plan.add(asked, "ask-reset") }
        }
        plan.add(at, "call", [Int64(index)] + shares)
      }
    }
    plan.maybe(faults > 0 ? 300 : 0) { plan in
      let (at, fault) = (plan.instant(), plan.within(0...Int64(faults - 1)))
      plan.add(at, "fault", fault, 1)
      plan.add(at + .milliseconds(plan.within(1...10_000)), "fault", fault, 0)
    }
    plan.maybe(200) { $0.addFault("outputs-refuse", milliseconds: 1...5_000) }
    plan.maybe(300, 1...3) { $0.add($0.instant(), "stall", $0.within(10...2_500)) }
    // An order is delayed on its way to the loop, as by a slow body or disk, while a stop and perhaps a reset arrive.
    plan.maybe(500, 1...3) { plan in
      let (at, wait) = (plan.busyInstant(), plan.within(2...400))
      plan.add(at, "ask-e-stop")
      plan.maybe(500) { $0.add(at + .milliseconds(wait / 2), "ask-reset") }
      let (late, ago) = (at + .milliseconds(wait), wait + plan.within(1...200))
      guard !commands.isEmpty, plan.chance(700) else { return plan.add(late, "late-reset", ago) }
      let index = plan.below(UInt64(clamping: commands.count))
      let shares = commands[index].parameters.map { _ in plan.within(0...1_000) }
      plan.add(late, "late-call", [ago, Int64(index)] + shares)
    }
  }

  /// Returns the name under which accepted commands are counted, or `nil` for a command of items that the defaults of the
  /// keys do not have.
  static func title(_ command: Command<System.Order>) -> String? {
    guard let word = command.scenarioNames(in: System.Wiring()).first else { return nil }
    return "command \(command.name)" + (word == command.name ? "" : " of an item")
  }

  /// Returns the command of a line `call COMMAND SHARE…`. For each parameter the share gives the position in its range
  /// in thousandths; a share beyond 0…1000 gives a value out of range.
  ///
  /// - Returns: the command's name, which begins with the number of an item for a command of items, its title, its body, and whether all its
  ///   parameters are in range, or `nil` if the declaration has no such command, or no item for it.
  static func call(_ action: SwarmAction) -> (word: String, title: String, body: JSONValue, isInRange: Bool)? {
    let commands = System.commands
    guard commands.indices.contains(Int(clamping: action[0])) else { return nil }
    let command = commands[Int(action[0])]
    guard let title = title(command) else { return nil }
    let words = command.scenarioNames(in: System.Wiring())
    let word = words[Int(clamping: action.at.nanoseconds / 1_000_000) % words.count]
    var (members, isInRange): ([JSONValue.Member], Bool) = ([], true)
    for (index, parameter) in command.parameters.enumerated() {
      let share = action[index + 1]
      let (value, isIn) = value(of: parameter.kind, share)
      isInRange = isInRange && isIn
      members.append(.init(name: parameter.name, value: value))
    }
    return (word, title, .object(members), isInRange)
  }

  private static func value(of kind: ConfigKind, _ share: Int64) -> (JSONValue, isInRange: Bool) {
    let isInRange = (0...1_000).contains(share)
    switch kind {
    case .integer(let range):
      // A value just outside of either end of the range is invalid.
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
    case .text, .secret, .secretFile, .file, .folder, .host, .textOrNothing, .logFormat, .address, .pwmOutput, .sensor,
      .cpus, .integers, .integerList, .texts,
      .mappings,
      .alwaysTrue:
      return isInRange ? (.text("text \(share)"), true) : (.number("1"), false)
    }
  }
}
