import Service
import Tactus
import Wire
import Yams

/// What happens to a declared system, and what must come of it.
enum DeclaredScenario {
  enum Action {
    /// A command, with its body.
    case call(String, JSONValue)
    case fault(String, isActive: Bool)
    /// The system's next tick takes so much longer.
    case stall(Nanoseconds)
  }

  enum Check {
    /// A field's word, text or yes or no.
    case word(field: String, String)
    case range(field: String, ClosedRange<Double>)
    /// The field is unknown.
    case unknown(field: String)
    /// So many notices of this kind, one at least unless said.
    case notice(String)
    /// What the last command was answered: `accepted`, or the code of the refusal.
    case answer(String)
  }
}

/// Reads a scenario file with a part of the system's name: `fan:` or `fan: { config: box.yaml }`. Every error of the file is found.
struct DeclaredScenarioReader<System: DeviceSystem>: ScenarioReader {
  typealias Setup = ConfiguredSystem<System>
  typealias Action = DeclaredScenario.Action
  typealias Check = DeclaredScenario.Check

  static var keys: [String] { [System.name] }
  static var actions: [String] { ["call", "fault", "clear", "stall_s"] }
  static var eventKeys: [String] { ["with"] }
  static var checks: [String] { leaves.map(\.path) + ["notice", "answer"] }
  static var standard: (duration: Nanoseconds, setup: Setup) {
    do {
      return (.seconds(60), try ConfiguredSystem<System>(GivenValues(values: [:])))
    } catch {
      preconditionFailure("\(System.self) cannot be planned with its defaults: \(error)")
    }
  }
  var reader: FieldReader

  /// Of the state before the first tick, which has as many items as every other.
  private static var leaves: [FieldLeaf] {
    System.fields.map(\.shape).leaves(System.fields.map { $0.read(System.initialState) })
  }

  /// Whether a file is one for this reader.
  static func reads(_ file: YAMLFile) -> Bool { file.root?.mapping?[System.name] != nil }

  mutating func read(_ key: String, _ node: Node, into setup: inout Setup) throws {
    guard !node.isNothing, let fields = reader.fields(node, key, known: ["config"]) else { return }
    guard let file = fields.nodes["config"], let configuration = try reader.configuration(file, "\(key).config") else {
      return
    }
    let configured = configuration.systems[Setup.self]
    guard let configured else {
      return reader.report(file, "\(key).config", "expected a configuration with \(key), got one without")
    }
    setup = configured
  }

  mutating func action(
    _ name: String, _ event: FieldReader.Fields, _ path: String, _ setup: Setup
  ) -> DeclaredScenario.Action? {
    let node = event.nodes[name]!
    if name != "call", let with = event.nodes["with"] {
      reader.report(with, "\(path).with", "expected it beside call only")
    }
    switch name {
    case "call":
      let words = System.commands.map(\.name) + ["e-stop", "reset"]
      guard let word = reader.word(node, "\(path).call", words) else { return nil }
      return .call(word, event.nodes["with"].map { JSONValue($0) } ?? .object([] as [JSONValue.Member]))
    case "stall_s": return reader.number(node, "\(path).stall_s", 0.001...3600).map { .stall(.seconds($0)) }
    default:
      guard let fault = reader.word(node, "\(path).\(name)", setup.plan.faults) else { return nil }
      return .fault(fault, isActive: name == "fault")
    }
  }

  mutating func check(
    _ name: String, _ expectation: FieldReader.Fields, _ path: String, _ setup: Setup
  ) -> DeclaredScenario.Check? {
    let (node, path) = (expectation.nodes[name]!, "\(path).\(name)")
    switch name {
    case "answer": return reader.text(node, path).map { .answer($0) }
    case "notice": return reader.word(node, path, System.Notice.allCases.map(\.rawValue)).map { .notice($0) }
    default: break
    }
    let form = Self.leaves.first { $0.path == name }!.form.plain
    if node.isNothing { return .unknown(field: name) }
    switch form.kind {
    case .integer, .number: return reader.range(node, path).map { .range(field: name, $0) }
    case .words(let words): return reader.word(node, path, words).map { .word(field: name, $0) }
    case .boolean:
      guard case .boolean(let value)? = reader.value(node, path, .boolean) else { return nil }
      return .word(field: name, "\(value)")
    case .text, .line, .pwmOutput: return reader.text(node, path).map { .word(field: name, $0) }
    }
  }
}

extension JSONValue {
  /// A node as JSON: what it looks like, since nobody says what is expected.
  fileprivate init(_ node: Node) {
    switch node {
    case .mapping(let mapping):
      self = .object(mapping.map { Member(name: $0.key.scalar?.string ?? "", value: JSONValue($0.value)) })
    case .sequence(let items): self = .list(items.map { JSONValue($0) })
    case .scalar(let scalar):
      if node.isNothing {
        self = .null
      } else if scalar.style != .plain && scalar.style != .any {
        self = .text(scalar.string)
      } else if scalar.string == "true" || scalar.string == "false" {
        self = .boolean(scalar.string == "true")
      } else if let number = ScalarReader.number(scalar.string) {
        self = PlainValue.number(number).json
      } else {
        self = .text(scalar.string)
      }
    case .alias: self = .null
    }
  }
}
