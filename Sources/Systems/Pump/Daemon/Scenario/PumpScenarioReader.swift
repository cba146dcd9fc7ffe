import Pump
import Tactus
import TactusDaemon
import Wire
import Yams

/// Reads a scenario file with a `pump:` part. Every error of the file is found.
struct PumpScenarioReader: ScenarioReader {
  static let keys = ["pump"]
  private static let pumpKeys = [
    "config", "firmware", "dialect", "silence_limit_s", "water_celsius", "skin_celsius", "body_celsius",
    "lost_per_million", "changed_per_million",
  ]
  static let actions = [
    "turn_on", "turn_off", "speed_percent", "emergency_stop", "reset", "line", "fault", "mended", "button",
    "body_celsius", "skin_celsius", "skin_free", "stall_s",
  ]
  private static let faults: [(word: String, fault: PumpWorld.Fault)] = [
    ("water-open", .waterSensorOpen), ("water-shorted", .waterSensorShorted), ("skin-open", .skinSensorOpen),
    ("skin-shorted", .skinSensorShorted), ("dry-run", .dryRun), ("stuck", .stuck), ("inputs-gone", .inputsGone),
    ("output-gone", .outputGone),
  ]
  private static let celsius = -60.0...150.0
  static let checks =
    ["state", "off_confirmed", "fault", "reason", "contact", "source", "pump"]
    + PumpScenario.Quantity.allCases.map(\.rawValue)
  static var standard: (duration: Nanoseconds, setup: PumpSimulation.Configuration) {
    (.seconds(60), PumpSimulation.Configuration())
  }
  var reader: FieldReader

  /// Whether a file is one for this reader.
  static func reads(_ file: YAMLFile) -> Bool { file.root?.mapping?["pump"] != nil }

  mutating func read(_ key: String, _ node: Node, into setup: inout PumpSimulation.Configuration) throws {
    // `pump:` alone is a pump, too.
    guard !node.isNothing, let fields = reader.fields(node, "pump", known: Self.pumpKeys) else { return }
    var (dialect, isOriginal, silence) = (PumpDialect.firmware, false, Nanoseconds?.none)
    for name in fields.names {
      let (node, path) = (fields.nodes[name]!, "pump.\(name)")
      switch name {
      case "config": if let settings = try settings(node, path) { setup.settings = settings }
      case "firmware": isOriginal = reader.word(node, path, ["solved", "original"]) == "original"
      case "dialect": dialect = reader.word(node, path, ["firmware", "legacy"]) == "legacy" ? .legacy : .firmware
      case "silence_limit_s": silence = reader.number(node, path, 1...3_600).map { .seconds($0) }
      case "water_celsius": setup.world.waterCelsius = reader.number(node, path, Self.celsius) ?? 0
      case "skin_celsius": setup.world.skinCelsius = reader.number(node, path, Self.celsius) ?? 0
      case "body_celsius": setup.world.bodyCelsius = reader.number(node, path, Self.celsius) ?? 0
      case "lost_per_million":
        setup.line.lostPerMillion = UInt32(clamping: reader.integer(node, path, 0...1_000_000) ?? 0)
      default: setup.line.changedPerMillion = UInt32(clamping: reader.integer(node, path, 0...1_000_000) ?? 0)
      }
    }
    if isOriginal, dialect == .legacy || silence != nil {
      reader.report(node, "pump.firmware", "expected solved with dialect legacy or silence_limit_s, got original")
    }
    // The settings of a pump that is somebody else's are its own: those of a file are the operator's.
    setup.device = try isOriginal ? .original : PumpDeviceSettings(dialect: dialect, silenceLimit: silence)
  }

  private mutating func settings(_ node: Node, _ path: String) throws -> PumpOperatorSettings? {
    guard let configuration = try reader.configuration(node, path) else { return nil }
    if let pump = configuration.pump, pump.role == .operator { return pump.settings }
    reader.report(node, path, "expected a configuration with pump.role operator, got another")
    return nil
  }

  // MARK: events

  mutating func action(
    _ name: String, _ event: FieldReader.Fields, _ path: String, _ setup: PumpSimulation.Configuration
  ) -> PumpScenario.Action? {
    let (node, path) = (event.nodes[name]!, "\(path).\(name)")
    switch name {
    case "turn_on": return speed(node, path).map { .request(.turnOn($0)) }
    case "speed_percent":
      return reader.integer(node, path, 0...100).map { .request(.setSpeed(PumpSpeed(percent: UInt8(clamping: $0)))) }
    case "line":
      return reader.word(node, path, PumpScenario.Line.allCases.map(\.rawValue)).map {
        .line(PumpScenario.Line(rawValue: $0)!)
      }
    case "fault":
      guard let word = reader.word(node, path, Self.faults.map { $0.word }) else { return nil }
      return Self.faults.first { $0.word == word }.map { .fault($0.fault) }
    case "body_celsius": return reader.number(node, path, Self.celsius).map { .body(celsius: $0) }
    case "skin_celsius": return reader.number(node, path, Self.celsius).map { .skin(celsius: $0) }
    case "stall_s": return reader.number(node, path, 0.001...3_600).map { .stall(.seconds($0)) }
    default:
      guard case .boolean(true)? = reader.value(node, path, .alwaysTrue) else { return nil }
      return switch name {
      case "turn_off": .request(.turnOff)
      case "emergency_stop": .request(.emergencyStop)
      case "reset": .request(.reset)
      case "mended": .mended
      case "button": .button
      default: .skin(celsius: nil)
      }
    }
  }

  /// A percentage, or `true`: the pump's own speed.
  private mutating func speed(_ node: Node, _ path: String) -> PumpSpeed?? {
    if case .boolean(true)? = node.scalar.flatMap({ ScalarReader.value($0.string, as: .alwaysTrue) }) {
      return .some(nil)
    }
    return reader.integer(node, path, 0...100).map { .some(PumpSpeed(percent: UInt8(clamping: $0))) }
  }

  // MARK: expectations

  mutating func check(
    _ name: String, _ expectation: FieldReader.Fields, _ path: String, _ setup: PumpSimulation.Configuration
  ) -> PumpScenario.Check? {
    let (node, path) = (expectation.nodes[name]!, "\(path).\(name)")
    switch name {
    case "state": return reader.word(node, path, PumpOperatorState.scenarioNames).map { .state($0) }
    case "off_confirmed":
      guard case .boolean(let isConfirmed)? = reader.value(node, path, .boolean) else { return nil }
      return .offConfirmed(isConfirmed)
    case "fault":
      let words = [
        "run-limit", "safety-shutoff", "overheat", "sensor-fault", "start-failed", "pump-error", "missed-releases",
        "external-stop",
      ]
      return reader.word(node, path, words).map { .fault($0) }
    case "reason": return reader.text(node, path).map { .reason($0) }
    case "contact": return reader.word(node, path, PumpContact.names).map { .contact($0) }
    case "source": return reader.word(node, path, ["app", "manual", "device", "host"]).map { .source($0) }
    case "pump": return reader.word(node, path, PumpDeviceState.scenarioNames).map { .pump($0) }
    default: return reader.range(node, path).map { .quantity(PumpScenario.Quantity(rawValue: name)!, $0) }
    }
  }
}
