import Service
import Yams

/// Reads mappings of known fields out of a YAML file and collects every error, like `ConfigReader` for small formats.
public struct FieldReader {
  /// The fields of one mapping.
  public struct Fields {
    /// The mapping itself: where an error about a missing field is reported.
    public let node: Node
    /// In the order of the file.
    public fileprivate(set) var names: [String] = []
    /// The value of each field that the file gives, by name. Only known fields are among them.
    public fileprivate(set) var nodes: [String: Node] = [:]
  }

  private let yaml: YAMLFile
  var file: String { yaml.name }
  /// Every error so far: those of the YAML first, then the reported ones in their order.
  public private(set) var errors: [ConfigError]

  /// Begins with the errors that parsing the file has left.
  public init(_ file: YAMLFile) {
    yaml = file
    errors = file.errors
  }

  /// Adds an error at the place of `node`.
  ///
  /// - Parameters:
  ///   - key: the path that the error names: `events[2].at_s`; empty if no key is meant.
  ///   - message: `expected …, got …`.
  public mutating func report(_ node: Node, _ key: String, _ message: String) {
    let name = file
    errors.tell(
      ConfigError(file: name, line: node.mark?.line, column: node.mark?.column, key: key, message: message))
  }

  /// The fields of a mapping; unknown ones are errors. Nil after an error about the whole.
  public mutating func fields(_ node: Node, _ path: String, known: [String]) -> Fields? {
    guard let mapping = node.mapping else {
      report(node, path, "expected a mapping of keys, got \(Self.describe(node))")
      return nil
    }
    var fields = Fields(node: node)
    for (index, (keyNode, value)) in mapping.enumerated() where errors.count <= [ConfigError].most {
      let name = yaml.name(of: keyNode)?.name ?? ""
      if let first = yaml.earlier(index, in: mapping) {
        let key = path.isEmpty ? name : "\(path).\(name)"
        report(keyNode, key, "expected each key once, got it again: line \(first.line) has it first")
        continue
      }
      guard known.contains(name) else {
        let hint = nearestName(to: name, among: known).map { "\($0)?" } ?? "one of " + known.joined(separator: ", ")
        report(keyNode, path.isEmpty ? name : "\(path).\(name)", "expected a known key (\(hint)), got \(name)")
        continue
      }
      fields.names.append(name)
      fields.nodes[name] = value
    }
    return fields
  }

  /// The items of a list; empty after an error or when there is none.
  public mutating func items(_ node: Node?, _ path: String) -> [Node] {
    guard let node, !node.isNothing else { return [] }
    if let sequence = node.sequence { return Array(sequence) }
    report(node, path, "expected a list, got \(Self.describe(node))")
    return []
  }

  /// The value of a scalar; `nil` after reporting that it is not of this kind. Lists are not scalars.
  public mutating func value(_ node: Node, _ path: String, _ kind: ConfigKind) -> ConfigValue? {
    if let text = node.scalar?.string, !node.isNothing, let value = ScalarReader.value(text, as: kind) { return value }
    report(node, path, "expected \(kind.expectation(insteadOf: node.scalar?.string)), got \(Self.describe(node))")
    return nil
  }

  /// A number in a range, or `nil` if the node is no such number, which is reported as an error.
  public mutating func number(_ node: Node, _ path: String, _ range: ClosedRange<Double>) -> Double? {
    if case .number(let number)? = value(node, path, .number(range)) { number } else { nil }
  }

  /// A whole number in a range, or `nil` if the node is no such number, which is reported as an error.
  public mutating func integer(_ node: Node, _ path: String, _ range: ClosedRange<Int>) -> Int? {
    if case .integer(let number)? = value(node, path, .integer(range)) { number } else { nil }
  }

  /// One of `words`, read in any case and returned as written there, or `nil` if the node is none of them, which is reported as an error.
  public mutating func word(_ node: Node, _ path: String, _ words: [String]) -> String? {
    if case .text(let word)? = value(node, path, .choice(words)) { word } else { nil }
  }

  /// A text that is not empty, or `nil` if the node is no such text, which is reported as an error.
  public mutating func text(_ node: Node, _ path: String) -> String? {
    if case .text(let text)? = value(node, path, .text) { text } else { nil }
  }

  /// A list of two numbers.
  public mutating func pair(_ node: Node, _ path: String, _ range: ClosedRange<Double>) -> (Double, Double)? {
    let items = node.sequence.map(Array.init) ?? []
    guard items.count == 2 else {
      report(node, path, "expected a list of 2 numbers, got \(Self.describe(node))")
      return nil
    }
    guard let first = number(items[0], path, range), let second = number(items[1], path, range) else { return nil }
    return (first, second)
  }

  /// What an error says was found: the text of a scalar, `nothing`, `a mapping`, `a list of 3`.
  public static func describe(_ node: Node) -> String {
    if node.isNothing { return "nothing" }
    return switch node {
    case .scalar(let scalar): scalar.string
    case .mapping: "a mapping"
    case .sequence(let items): "a list of \(items.count)"
    case .alias: "an alias"
    }
  }
}
