@_spi(FromOutside) import Conversions
import Tactus
import Yams

/// Reads a scenario file in the words of its world, and collects all errors of the file.
private struct ScenarioReader<World: ScenarioWorld> {
  var reader: FieldReader

  mutating func read(_ root: Node, into scenario: inout Scenario<World>) throws {
    let known = ["name", "seed", "duration_s"] + ScenarioWord.keys(World.keys) + ["events", "expect"]
    guard let fields = reader.fields(root, "", known: known) else { return }
    for name in fields.names {
      let node = fields.nodes[name]!
      switch name {
      case "name": scenario.name = reader.text(node, name) ?? ""
      case "seed": scenario.seed = UInt64(clamping: reader.integer(node, name, 0...Int.max) ?? 1)
      case "duration_s": scenario.duration = .seconds(reader.number(node, name, 0.001...86_400) ?? 1)
      case "events", "expect": break
      default: try reader.word(name, among: World.keys, fields, "")?(&scenario.setup)
      }
    }
    let (events, checks) = (World.events(scenario.setup), World.checks(scenario.setup))
    for names in [events.map(\.name), checks.map(\.name)] {
      precondition(Set(names).count == names.count, "\(World.self): each name once, got \(names)")
    }
    let at = World.instant(scenario.setup)
    let steps =
      try reader.items(fields.nodes["events"], "events").enumerated().compactMap {
        try event($1, "events[\($0)]", at, events)
      }
      + reader.items(fields.nodes["expect"], "expect").enumerated().compactMap {
        try expectation($1, "expect[\($0)]", at, checks)
      }
    let sorted = steps.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
    scenario.steps = sorted.map(\.element)
  }

  private mutating func event(
    _ node: Node, _ path: String, _ at: ScenarioCompany<Nanoseconds>, _ words: [ScenarioWord<World>]
  ) throws -> Scenario<World>.Step? {
    guard let fields = reader.fields(node, path, known: [at.name] + ScenarioWord.keys(words)),
      let time = try reader.value(at, fields, path),
      let name = reader.action(fields, path, among: words.map(\.name))
    else { return nil }
    return try reader.word(name, among: words, fields, path).map { .init(at: time, late: "happened", act: $0) }
  }

  private mutating func expectation(
    _ node: Node, _ path: String, _ at: ScenarioCompany<Nanoseconds>, _ checks: [ScenarioCheck<World>]
  ) throws -> Scenario<World>.Step? {
    guard let fields = reader.fields(node, path, known: [at.name] + checks.map(\.name)),
      let time = try reader.value(at, fields, path)
    else { return nil }
    let names = fields.names.filter { $0 != at.name }
    if names.isEmpty { reader.report(node, path, "expected something besides \(at.name), got nothing") }
    let all = try names.compactMap { name in try checks.first { $0.name == name }?.read(&reader, fields, path) }
    return .init(at: time, late: "checked") { world in
      for check in all { check(world, time, &world.timeline) }
    }
  }
}

extension Scenario {
  /// Reads a scenario.
  ///
  /// - Throws: `ConfigErrors` with all errors of the file.
  init(_ file: YAMLFile) throws {
    name = file.name
    guard let root = file.root else {
      guard file.errors.isEmpty else { throw ConfigErrors(errors: file.errors) }
      throw ConfigErrors(errors: [
        ConfigError(file: file.name, key: "", message: "expected a scenario, got an empty file")
      ])
    }
    var reader = ScenarioReader<World>(reader: FieldReader(file))
    try reader.read(root, into: &self)
    guard reader.reader.errors.isEmpty else { throw ConfigErrors(errors: reader.reader.errors) }
  }
}
