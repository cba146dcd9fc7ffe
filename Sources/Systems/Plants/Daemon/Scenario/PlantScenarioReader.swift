import Plants
import Tactus
import TactusDaemon
import Yams

/// Reads a scenario file with a `plants:` part.
struct PlantScenarioReader: ScenarioReader {
  static let keys = ["plants"]
  static let actions = [
    "request", "message", "moisture_percent", "pour_percent", "celsius", "fault", "broker", "bus", "sprinkler",
    "stall_s",
  ]
  static let eventKeys = ["sender", "payload", "probe"]
  static let checks =
    ["plant", "alerts", "watered", "reply", "payload"] + PlantScenario.PlantQuantity.allCases.map(\.rawValue)
    + PlantScenario.Quantity.allCases.map(\.rawValue)
  /// One probe, and nothing to water it.
  static var standard: (duration: Nanoseconds, setup: Configuration.Plants) {
    guard let file = try? YAMLFile(text: "plants: {}", name: ""),
      let plants = try? Configuration.read(file, environment: [:]).plants
    else { preconditionFailure("the standard of every key is a configuration") }
    return (.seconds(600), plants)
  }
  var reader: FieldReader

  /// Whether a file is one for this reader.
  static func reads(_ file: YAMLFile) -> Bool { file.root?.mapping?["plants"] != nil }

  mutating func read(_ key: String, _ node: Node, into setup: inout Configuration.Plants) throws {
    // `plants:` alone has one probe, too.
    guard !node.isNothing, let fields = reader.fields(node, key, known: ["config"]), let name = fields.nodes["config"],
      let configuration = try reader.configuration(name, "plants.config")
    else { return }
    guard let plants = configuration.plants else {
      return reader.report(name, "plants.config", "expected a configuration with plants, got one without")
    }
    setup = plants
  }

  // MARK: events

  mutating func action(
    _ name: String, _ event: FieldReader.Fields, _ path: String, _ setup: Configuration.Plants
  ) -> PlantScenario.Action? {
    let (node, place) = (event.nodes[name]!, "\(path).\(name)")
    checkCompany(of: name, event, path)
    switch name {
    case "request": return request(node, event, path)
    case "message": return reader.text(node, place).map { .message($0) }
    case "broker": return reader.word(node, place, ["up", "down"]).map { .broker(isUp: $0 == "up") }
    case "bus":
      return reader.word(node, place, PlantScenario.Bus.allCases.map(\.rawValue)).map {
        .bus(PlantScenario.Bus(rawValue: $0)!)
      }
    case "sprinkler":
      return reader.word(node, place, PlantScenario.Sprinkler.allCases.map(\.rawValue)).map {
        .sprinkler(PlantScenario.Sprinkler(rawValue: $0)!)
      }
    case "stall_s": return reader.number(node, place, 0.001...3_600).map { .stall(.seconds($0)) }
    default:
      guard let soil = soil(name, node, place), let probe = probe(event, path, setup) else { return nil }
      return .soil(probe, soil)
    }
  }

  /// Keys that mean nothing beside this event are mistakes.
  private mutating func checkCompany(of name: String, _ event: FieldReader.Fields, _ path: String) {
    let isSoil = ["moisture_percent", "pour_percent", "celsius", "fault"].contains(name)
    let wanted = name == "request" ? ["sender", "payload"] : isSoil ? ["probe"] : []
    for key in Self.eventKeys where !wanted.contains(key) {
      if let node = event.nodes[key] { reader.report(node, "\(path).\(key)", "expected none beside \(name)") }
    }
  }

  private mutating func request(
    _ node: Node, _ event: FieldReader.Fields, _ path: String
  ) -> PlantScenario.Action? {
    guard let operation = reader.text(node, "\(path).request") else { return nil }
    let sender = event.nodes["sender"].flatMap { reader.text($0, "\(path).sender") } ?? "phone"
    let payload = event.nodes["payload"].flatMap { reader.text($0, "\(path).payload") } ?? ""
    return .request(sender: sender, operation: operation, payload: payload)
  }

  private mutating func soil(_ name: String, _ node: Node, _ path: String) -> PlantScenario.Soil? {
    switch name {
    case "moisture_percent": return reader.number(node, path, 0...100).map { .moisture(percent: $0) }
    case "pour_percent": return reader.number(node, path, 0...100).map { .poured(percent: $0) }
    case "celsius": return reader.number(node, path, 0...85).map { .temperature(celsius: $0) }
    default:
      return reader.word(node, path, SimulatedSoil.Fault.allCases.map(\.rawValue)).map {
        .fault(SimulatedSoil.Fault(rawValue: $0)!)
      }
    }
  }

  private mutating func probe(
    _ event: FieldReader.Fields, _ path: String, _ setup: Configuration.Plants
  ) -> PlantSensorID? {
    guard let node = event.nodes["probe"] else {
      reader.report(event.node, path, "expected probe, got none")
      return nil
    }
    return reader.word(node, "\(path).probe", setup.sensors.map(\.name)).flatMap { PlantSensorID($0) }
  }

  // MARK: expectations

  mutating func check(
    _ name: String, _ expectation: FieldReader.Fields, _ path: String, _ setup: Configuration.Plants
  ) -> PlantScenario.Check? {
    let (node, place) = (expectation.nodes[name]!, "\(path).\(name)")
    if let quantity = PlantScenario.Quantity(rawValue: name) {
      return reader.range(node, place).map { .quantity(quantity, $0) }
    }
    switch name {
    case "plant": return reader.text(node, place).map { .plant($0) }
    case "reply": return reader.text(node, place).map { .reply($0) }
    case "payload": return reader.text(node, place).map { .payload($0) }
    default:
      // What is said of one plant.
      guard let plant = expectation.nodes["plant"]?.scalar?.string else {
        reader.report(node, place, "expected plant with it, got none")
        return nil
      }
      switch name {
      case "alerts": return alerts(node, place).map { .alerts(plant: plant, $0) }
      case "watered":
        guard case .boolean(let isWatered)? = reader.value(node, place, .boolean) else { return nil }
        return .watered(plant: plant, isWatered)
      default:
        let quantity = PlantScenario.PlantQuantity(rawValue: name)!
        return reader.range(node, place).map { .plantQuantity(plant: plant, quantity, $0) }
      }
    }
  }

  /// A word or a list of words; `none`: an empty list.
  private mutating func alerts(_ node: Node, _ path: String) -> [String]? {
    if node.scalar?.string == "none" { return [] }
    let words = PlantAlert.allCases.map(\.rawValue)
    let given = (node.sequence.map(Array.init) ?? [node]).map { reader.word($0, path, words) }
    return given.contains(nil) ? nil : given.compactMap(\.self)
  }
}
