import Buses
import Robot
import Tactus
import Wire
import Yams

/// Reads a scenario file. Every error of the file is found.
struct ScenarioReader {
  private static let actions = [
    "joystick", "wheels", "rest", "stop", "emergency_stop", "reset", "link", "network", "bus", "stall_s",
  ]
  private var reader: FieldReader
  private let folder: String

  static func read(path: String) throws -> Scenario { try read(YAMLFile(path: path)) }

  static func read(_ file: YAMLFile) throws -> Scenario {
    let path = file.name
    let slash = path.lastIndex(of: "/")
    var reader = ScenarioReader(name: file.name, folder: slash.map { String(path[...$0]) } ?? "")
    return try reader.scenario(file)
  }

  /// A scenario from text; a `config:` in it is looked for in the working folder.
  static func read(text: String, name: String) throws -> Scenario {
    let file = try YAMLFile(text: text, name: name)
    var reader = ScenarioReader(name: name, folder: "")
    return try reader.scenario(file)
  }

  private init(name: String, folder: String) {
    reader = FieldReader(file: name)
    self.folder = folder
  }

  private mutating func scenario(_ file: YAMLFile) throws -> Scenario {
    guard let root = file.root else {
      throw ConfigErrors(errors: [
        ConfigError(file: file.name, key: "", message: "expected a scenario, got an empty file")
      ])
    }
    let known = ["name", "seed", "duration_s", "config", "operators", "network", "events", "expect"]
    var scenario = Scenario(
      name: file.name, seed: 1, duration: .seconds(10), operators: 1, settings: .standard,
      conditions: SimulatedNetwork.Conditions(), events: [], expectations: [])
    if let fields = reader.fields(root, "", known: known) {
      try readHead(fields, into: &scenario)
      scenario.events = reader.items(fields.nodes["events"], "events").enumerated().compactMap {
        event($1, "events[\($0)]", operators: scenario.operators)
      }
      scenario.expectations = reader.items(fields.nodes["expect"], "expect").enumerated().compactMap {
        expectation($1, "expect[\($0)]")
      }
    }
    scenario.events.sort { $0.at < $1.at }
    scenario.expectations.sort { $0.at < $1.at }
    guard reader.errors.isEmpty else { throw ConfigErrors(errors: reader.errors) }
    return scenario
  }

  private mutating func readHead(_ fields: FieldReader.Fields, into scenario: inout Scenario) throws {
    for name in fields.names {
      let node = fields.nodes[name]!
      switch name {
      case "name": scenario.name = reader.text(node, name) ?? ""
      case "seed": scenario.seed = UInt64(reader.integer(node, name, 0...Int.max) ?? 1)
      case "duration_s": scenario.duration = .seconds(reader.number(node, name, 0.001...86_400) ?? 1)
      case "operators": scenario.operators = reader.integer(node, name, 1...8) ?? 1
      case "network": scenario.conditions = conditions(node, name) ?? scenario.conditions
      case "config":
        guard let path = reader.text(node, name) else { continue }
        let configuration = try Configuration.read(
          path: path.hasPrefix("/") ? path : folder + path, environment: processEnvironment())
        guard let motors = configuration.motors else {
          reader.report(node, name, "expected a configuration with motors, got one without")
          continue
        }
        scenario.settings = configuration.robotSettings(motors)
      default: break
      }
    }
  }

  private mutating func conditions(_ node: Node, _ path: String) -> SimulatedNetwork.Conditions? {
    let known = ["delay_ms", "jitter_ms", "loss_percent", "duplication_percent", "reordering_percent"]
    guard let fields = reader.fields(node, path, known: known) else { return nil }
    var conditions = SimulatedNetwork.Conditions()
    for name in fields.names {
      let range = name.hasSuffix("_ms") ? 0.0...60_000.0 : 0.0...100.0
      guard let value = reader.number(fields.nodes[name]!, "\(path).\(name)", range) else { continue }
      let perMille = Int((value * 10).rounded())
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

  private mutating func event(_ node: Node, _ path: String, operators: Int) -> Scenario.Event? {
    guard let fields = reader.fields(node, path, known: ["at_s", "operator"] + Self.actions),
      let at = reader.instant(fields, path)
    else { return nil }
    let person = fields.nodes["operator"].flatMap { reader.integer($0, "\(path).operator", 0...operators - 1) } ?? 0
    guard let name = reader.action(fields, path, among: Self.actions) else { return nil }
    return action(name, fields.nodes[name]!, "\(path).\(name)").map {
      Scenario.Event(at: at, person: person, action: $0)
    }
  }

  private mutating func action(_ name: String, _ node: Node, _ path: String) -> Scenario.Action? {
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

  private mutating func busFault(_ node: Node, _ path: String) -> Scenario.BusFault? {
    if node.mapping != nil {
      guard let fields = reader.fields(node, path, known: ["refuse_percent"]),
        let share = fields.nodes["refuse_percent"]
      else { return nil }
      return reader.number(share, "\(path).refuse_percent", 0...100).map {
        .refuses(perMille: Int(($0 * 10).rounded()))
      }
    }
    switch reader.word(node, path, ["ok", "stuck", "no-acknowledge"]) {
    case "ok": return Scenario.BusFault.none
    case "stuck": return .stuck
    case "no-acknowledge": return .noAcknowledge
    default: return nil
    }
  }

  private mutating func expectation(_ node: Node, _ path: String) -> Scenario.Expectation? {
    let known = ["state", "reason", "link"] + Scenario.Quantity.allCases.map(\.rawValue)
    guard let (at, fields, names) = reader.expectation(node, path, known: known) else { return nil }
    return Scenario.Expectation(at: at, checks: names.compactMap { check($0, fields.nodes[$0]!, "\(path).\($0)") })
  }

  private mutating func check(_ name: String, _ node: Node, _ path: String) -> Scenario.Check? {
    switch name {
    case "state": return reader.word(node, path, ["stopped", "driving", "e-stop", "fault"]).map { .state($0) }
    case "reason": return reader.text(node, path).map { .reason($0) }
    case "link": return reader.word(node, path, ["none", "alive", "lost"]).map { .link($0) }
    default: return reader.range(node, path).map { .quantity(Scenario.Quantity(rawValue: name)!, $0) }
    }
  }
}
