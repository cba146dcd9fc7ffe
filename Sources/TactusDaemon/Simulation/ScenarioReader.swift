import Tactus
import Yams

/// Reads one kind of scenario file: `name`, `seed`, `duration_s`, `events` and `expect`, which all kinds have, and what it adds.
public protocol ScenarioReader {
  /// What the simulated system is made of.
  associatedtype Setup
  /// What an event does to it.
  associatedtype Action
  /// One thing that an expectation demands.
  associatedtype Check

  /// The keys of a file that only this kind has.
  static var keys: [String] { get }
  /// What an event may be; it is one of them.
  static var actions: [String] { get }
  /// What an event may have besides.
  static var eventKeys: [String] { get }
  /// What an expectation may say.
  static var checks: [String] { get }
  /// A file that says nothing of its duration and its setup has these.
  static var standard: (duration: Nanoseconds, setup: Setup) { get }

  /// Begins a file, of which nothing has been read yet.
  init(reader: FieldReader)
  /// Reads the file's nodes, and collects every error.
  var reader: FieldReader { get set }

  /// Reads one of `keys`, if the file has it, before any event. Reports what is wrong, and changes nothing then.
  ///
  /// - Throws: `ConfigErrors` of another file that this one names.
  mutating func read(_ key: String, _ node: Node, into setup: inout Setup) throws
  /// Reads an event; `nil` after reporting what is wrong.
  ///
  /// - Parameters:
  ///   - name: the one of `actions` that the event has.
  ///   - path: of the event: `events[2]`.
  mutating func action(_ name: String, _ event: FieldReader.Fields, _ path: String, _ setup: Setup) -> Action?
  /// Reads one check of an expectation, or `nil` if there is nothing to check, or after reporting what is wrong.
  ///
  /// - Parameters:
  ///   - name: the one of `checks` to read.
  ///   - path: of the expectation: `expect[2]`.
  mutating func check(_ name: String, _ expectation: FieldReader.Fields, _ path: String, _ setup: Setup) -> Check?
}

extension ScenarioReader {
  public static var eventKeys: [String] { [] }

  /// - Throws: `ConfigErrors`: every error of the file, not only the first.
  static func read(_ file: YAMLFile) throws -> Scenario<Setup, Action, Check> {
    var reader = Self(reader: FieldReader(file))
    var scenario = Scenario<Setup, Action, Check>(
      name: file.name, duration: standard.duration, setup: standard.setup)
    guard let root = file.root else {
      guard file.errors.isEmpty else { throw ConfigErrors(errors: file.errors) }
      throw ConfigErrors(errors: [
        ConfigError(file: file.name, key: "", message: "expected a scenario, got an empty file")
      ])
    }
    try reader.read(root, into: &scenario)
    guard reader.reader.errors.isEmpty else { throw ConfigErrors(errors: reader.reader.errors) }
    return scenario
  }

  private mutating func read(_ root: Node, into scenario: inout Scenario<Setup, Action, Check>) throws {
    let known = ["name", "seed", "duration_s"] + Self.keys + ["events", "expect"]
    guard let fields = reader.fields(root, "", known: known) else { return }
    for name in fields.names {
      let node = fields.nodes[name]!
      switch name {
      case "name": scenario.name = reader.text(node, name) ?? ""
      case "seed": scenario.seed = UInt64(clamping: reader.integer(node, name, 0...Int.max) ?? 1)
      case "duration_s": scenario.duration = .seconds(reader.number(node, name, 0.001...86_400) ?? 1)
      case "events", "expect": break
      default: try read(name, node, into: &scenario.setup)
      }
    }
    let setup = scenario.setup
    scenario.events = reader.items(fields.nodes["events"], "events").enumerated().compactMap {
      event($1, "events[\($0)]", setup)
    }
    scenario.expectations = reader.items(fields.nodes["expect"], "expect").enumerated().compactMap {
      expectation($1, "expect[\($0)]", setup)
    }
    scenario.events.sort { $0.at < $1.at }
    scenario.expectations.sort { $0.at < $1.at }
  }

  private mutating func event(
    _ node: Node, _ path: String, _ setup: Setup
  ) -> Scenario<Setup, Action, Check>.Event? {
    guard let fields = reader.fields(node, path, known: ["at_s"] + Self.eventKeys + Self.actions),
      let at = reader.instant(fields, path), let name = reader.action(fields, path, among: Self.actions)
    else { return nil }
    return action(name, fields, path, setup).map { .init(at: at, action: $0) }
  }

  private mutating func expectation(
    _ node: Node, _ path: String, _ setup: Setup
  ) -> Scenario<Setup, Action, Check>.Expectation? {
    guard let fields = reader.fields(node, path, known: ["at_s"] + Self.checks), let at = reader.instant(fields, path)
    else { return nil }
    let names = fields.names.filter { $0 != "at_s" }
    if names.isEmpty { reader.report(node, path, "expected something besides at_s, got nothing") }
    return .init(at: at, checks: names.compactMap { check($0, fields, path, setup) })
  }
}
