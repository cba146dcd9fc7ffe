import Service
import Yams

/// Reads mappings of known fields out of a YAML file and collects every error, like `ConfigReader` for small formats.
package struct FieldReader {
  /// The fields of one mapping.
  package struct Fields {
    package let node: Node
    /// In the order of the file.
    package fileprivate(set) var names: [String] = []
    package fileprivate(set) var nodes: [String: Node] = [:]
  }

  private let yaml: YAMLFile
  var file: String { yaml.name }
  package private(set) var errors: [ConfigError]

  package init(_ file: YAMLFile) {
    yaml = file
    errors = file.errors
  }

  package mutating func report(_ node: Node, _ key: String, _ message: String) {
    errors.append(
      ConfigError(file: file, line: node.mark?.line, column: node.mark?.column, key: key, message: message))
  }

  /// The fields of a mapping; unknown ones are errors. Nil after an error about the whole.
  package mutating func fields(_ node: Node, _ path: String, known: [String]) -> Fields? {
    guard let mapping = node.mapping else {
      report(node, path, "expected a mapping of keys, got \(Self.describe(node))")
      return nil
    }
    var fields = Fields(node: node)
    for (index, (keyNode, value)) in mapping.enumerated() {
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
  package mutating func items(_ node: Node?, _ path: String) -> [Node] {
    guard let node, !node.isNothing else { return [] }
    if let sequence = node.sequence { return Array(sequence) }
    report(node, path, "expected a list, got \(Self.describe(node))")
    return []
  }

  package mutating func value(_ node: Node, _ path: String, _ kind: ConfigKind) -> ConfigValue? {
    if let text = node.scalar?.string, let value = ScalarReader.value(text, as: kind) { return value }
    report(node, path, "expected \(kind), got \(Self.describe(node))")
    return nil
  }

  package mutating func number(_ node: Node, _ path: String, _ range: ClosedRange<Double>) -> Double? {
    if case .number(let number)? = value(node, path, .number(range)) { number } else { nil }
  }

  package mutating func integer(_ node: Node, _ path: String, _ range: ClosedRange<Int>) -> Int? {
    if case .integer(let number)? = value(node, path, .integer(range)) { number } else { nil }
  }

  package mutating func word(_ node: Node, _ path: String, _ words: [String]) -> String? {
    if case .text(let word)? = value(node, path, .choice(words)) { word } else { nil }
  }

  package mutating func text(_ node: Node, _ path: String) -> String? {
    if case .text(let text)? = value(node, path, .text) { text } else { nil }
  }

  /// A list of two numbers.
  package mutating func pair(_ node: Node, _ path: String, _ range: ClosedRange<Double>) -> (Double, Double)? {
    let items = node.sequence.map(Array.init) ?? []
    guard items.count == 2 else {
      report(node, path, "expected a list of 2 numbers, got \(Self.describe(node))")
      return nil
    }
    guard let first = number(items[0], path, range), let second = number(items[1], path, range) else { return nil }
    return (first, second)
  }

  package static func describe(_ node: Node) -> String {
    if node.isNothing { return "nothing" }
    return switch node {
    case .scalar(let scalar): scalar.string
    case .mapping: "a mapping"
    case .sequence(let items): "a list of \(items.count)"
    case .alias: "an alias"
    }
  }
}
