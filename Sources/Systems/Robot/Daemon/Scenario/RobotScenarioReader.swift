import Buses
import Robot
import Service
import Tactus
import TactusDaemon
import Wire
import Yams

/// Reads a scenario file of a robot: one without another system's part.
struct RobotScenarioReader: ScenarioReader {
  static let keys = ["config", "operators", "network"]
  static let actions = [
    "joystick", "wheels", "rest", "stop", "emergency_stop", "reset", "link", "network", "bus", "stall_s",
  ]
  static let eventKeys = ["operator"]
  static let checks = ["state", "reason", "link"] + RobotScenario.Quantity.allCases.map(\.rawValue)
  static var standard: (duration: Nanoseconds, setup: RobotScenario.Setup) { (.seconds(10), RobotScenario.Setup()) }
  var reader: FieldReader

  mutating func read(_ key: String, _ node: Node, into setup: inout RobotScenario.Setup) throws {
    switch key {
    case "operators": setup.operators = reader.integer(node, key, 1...8) ?? 1
    case "network": setup.conditions = conditions(node, key) ?? setup.conditions
    default:
      guard let configuration = try reader.configuration(node, key) else { return }
      guard let motors = configuration.motors else {
        return reader.report(node, key, "expected a configuration with motors, got one without")
      }
      setup.settings = motors.robotSettings
    }
  }

  private mutating func conditions(_ node: Node, _ path: String) -> SimulatedNetwork.Conditions? {
    let known = ["delay_ms", "jitter_ms", "loss_percent", "duplication_percent", "reordering_percent"]
    guard let fields = reader.fields(node, path, known: known) else { return nil }
    var conditions = SimulatedNetwork.Conditions()
    for name in fields.names {
      let range = name.hasSuffix("_ms") ? 0.0...60_000.0 : 0.0...100.0
      guard let value = reader.number(fields.nodes[name]!, "\(path).\(name)", range) else { continue }
      let perMille = Int(saturating: (value * 10).rounded())
      switch name {
      case "delay_ms": conditions.delay = .seconds(value / 1000)
      case "jitter_ms": conditions.jitter = .seconds(value / 1000)
      case "loss_percent": conditions.lossPerMille = perMille
      case "duplication_percent": conditions.duplicationPerMille = perMille
      default: conditions.reorderingPerMille = perMille
      }
    }
    return conditions
  }

  mutating func action(
    _ name: String, _ event: FieldReader.Fields, _ path: String, _ setup: RobotScenario.Setup
  ) -> RobotScenario.Event? {
    let person = event.nodes["operator"].flatMap {
      reader.integer($0, "\(path).operator", 0...setup.operators - 1)
    }
    return action(name, event.nodes[name]!, "\(path).\(name)").map {
      RobotScenario.Event(person: person ?? 0, action: $0)
    }
  }

  private mutating func action(_ name: String, _ node: Node, _ path: String) -> RobotScenario.Action? {
    switch name {
    case "joystick":
      return reader.pair(node, path, -1...1).map { .controls(.joystick(x: $0.0, y: $0.1)) }
    case "wheels":
      return reader.pair(node, path, -100...100).map {
        .controls(.wheels(WheelSpeeds(left: Percent($0.0), right: Percent($0.1))))
      }
    case "link": return reader.word(node, path, ["up", "down"]).map { .link(isUp: $0 == "up") }
    case "network": return conditions(node, path).map { .network($0) }
    case "bus": return busFault(node, path).map { .bus($0) }
    case "stall_s": return reader.number(node, path, 0.001...3600).map { .stall(.seconds($0)) }
    default:
      guard case .boolean(true)? = reader.value(node, path, .alwaysTrue) else { return nil }
      return switch name {
      case "rest": .controls(.rest)
      case "stop": .stop
      case "emergency_stop": .emergencyStop
      default: .reset
      }
    }
  }

  private mutating func busFault(_ node: Node, _ path: String) -> RobotScenario.BusFault? {
    if node.mapping != nil {
      guard let fields = reader.fields(node, path, known: ["refuse_percent"]),
        let share = fields.nodes["refuse_percent"]
      else { return nil }
      return reader.number(share, "\(path).refuse_percent", 0...100).map {
        .refuses(perMille: Int(saturating: ($0 * 10).rounded()))
      }
    }
    switch reader.word(node, path, ["ok", "stuck", "no-acknowledge"]) {
    case "ok": return RobotScenario.BusFault.none
    case "stuck": return .stuck
    case "no-acknowledge": return .noAcknowledge
    default: return nil
    }
  }

  mutating func check(
    _ name: String, _ expectation: FieldReader.Fields, _ path: String, _ setup: RobotScenario.Setup
  ) -> RobotScenario.Check? {
    let (node, path) = (expectation.nodes[name]!, "\(path).\(name)")
    switch name {
    case "state": return reader.word(node, path, ["stopped", "driving", "e-stop", "fault"]).map { .state($0) }
    case "reason": return reader.text(node, path).map { .reason($0) }
    case "link": return reader.word(node, path, ["none", "alive", "lost"]).map { .link($0) }
    default: return reader.range(node, path).map { .quantity(RobotScenario.Quantity(rawValue: name)!, $0) }
    }
  }
}
