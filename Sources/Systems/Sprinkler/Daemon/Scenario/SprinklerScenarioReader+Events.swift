import Service
import Sprinkler
import Tactus
import TactusDaemon
import WallTime
import Yams

extension SprinklerScenarioReader {
  private static let actions = [
    "rain_delay_hours", "cancel_rain_delay", "forecast", "power_cut_minutes", "restart_s", "clock_step_s", "run_zone",
    "run_program", "stop", "pause_minutes", "seasonal_percent", "emergency_stop", "reset",
  ]

  mutating func readChance(_ node: Node, into scenario: inout SprinklerScenario) {
    let known = ["rain_delays", "power_cuts", "clock_steps", "runs_by_hand"]
    guard let fields = reader.fields(node, "random", known: known) else { return }
    func count(_ name: String) -> Int {
      fields.nodes[name].flatMap { reader.integer($0, "random.\(name)", 0...10_000) } ?? 0
    }
    scenario.chance = SprinklerScenario.Chance(
      rainDelays: count("rain_delays"), powerCuts: count("power_cuts"), clockSteps: count("clock_steps"),
      runsByHand: count("runs_by_hand"))
  }

  mutating func event(_ node: Node, _ path: String, _ scenario: SprinklerScenario) -> SprinklerScenario.Event? {
    guard let fields = reader.fields(node, path, known: ["at", "clock_stands_still"] + Self.actions),
      let at = instant(fields, path, scenario.settings.zone)
    else { return nil }
    guard let name = reader.action(fields, path, among: Self.actions) else { return nil }
    let stands = fields.nodes["clock_stands_still"].flatMap { boolean($0, "\(path).clock_stands_still") } ?? false
    return action(name, fields.nodes[name]!, "\(path).\(name)", clockStands: stands).map {
      SprinklerScenario.Event(at: at, action: $0)
    }
  }

  /// `2026-03-29 02:30`, local time.
  private mutating func instant(_ fields: FieldReader.Fields, _ path: String, _ zone: ZoneRules) -> WallInstant? {
    guard let node = fields.nodes["at"] else {
      reader.report(fields.node, path, "expected at, got none")
      return nil
    }
    let parts = (node.scalar?.string ?? "").split(separator: " ")
    guard parts.count == 2, let date = LocalDate(text: parts[0]), let minute = Self.minute(parts[1]) else {
      reader.report(
        node, "\(path).at", "expected a local time like 2026-03-29 02:30, got \(FieldReader.describe(node))")
      return nil
    }
    return zone.instant(of: date, second: minute * 60)
  }

  private mutating func action(
    _ name: String, _ node: Node, _ path: String, clockStands: Bool
  ) -> SprinklerScenario.Action? {
    switch name {
    case "rain_delay_hours":
      return reader.number(node, path, 0.1...336).map {
        .command(.setRainDelay(seconds: Int(saturating: ($0 * 3_600).rounded())))
      }
    case "forecast":
      return reader.pair(node, path, 0...336).map { .forecast(hours: $0.0, millimetres: $0.1) }
    case "power_cut_minutes":
      return reader.number(node, path, 0.1...1_000_000).map {
        .powerCut(.seconds(Int64(saturating: ($0 * 60).rounded())), clockStands: clockStands)
      }
    case "restart_s": return reader.number(node, path, 0...86_400).map { .restart(.seconds($0)) }
    case "clock_step_s":
      return reader.integer(node, path, -100_000_000...100_000_000).map { .clockStep(Int64($0)) }
    case "run_zone":
      guard let (number, minutes) = reader.pair(node, path, 0...1_440), let zone = ZoneID(Int(saturating: number))
      else {
        return nil
      }
      return .command(.zoneOn(zone, seconds: Int(saturating: (minutes * 60).rounded())))
    case "run_program": return reader.integer(node, path, 1...Int.max).map { .command(.runProgram(id: $0)) }
    case "pause_minutes": return seconds(node, path).map { .command(.pause(seconds: $0)) }
    case "seasonal_percent":
      return reader.integer(node, path, 0...250).map {
        .command(.setLevels(SprinklerLevels(seasonalPercent: $0)))
      }
    default:
      guard case .boolean(true)? = reader.value(node, path, .alwaysTrue) else { return nil }
      return switch name {
      case "cancel_rain_delay": .command(.cancelRainDelay)
      case "stop": .command(.stopAll)
      case "emergency_stop": .emergencyStop
      default: .reset
      }
    }
  }
}
