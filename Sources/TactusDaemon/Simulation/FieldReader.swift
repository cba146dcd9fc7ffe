import Service
import Yams

/// Reads mappings of known fields from a YAML file and collects all errors, as `ConfigReader` does, but for small
/// formats.
public struct FieldReader {
  /// The fields of one mapping.
  public struct Fields {
    /// The node of the mapping, where errors about missing fields are reported.
    public let node: Node
    /// The names of the given fields in the order of the file.
    public fileprivate(set) var names: [String] = []
    /// The value of each given field by its name. Unknown fields are not included.
    public fileprivate(set) var nodes: [String: Node] = [:]
  }

  private let yaml: YAMLFile
  var file: String { yaml.name }
  /// All errors so far: the errors of the YAML first, then the reported ones in their order.
  public private(set) var errors: [ConfigError]

  /// Creates a reader, whose first errors are those of parsing the file.
  public init(_ file: YAMLFile) {
    yaml = file
    errors = file.errors
  }

  /// Adds an error at the position of `node`.
  ///
  /// - Parameters:
  ///   - key: the path that the error names, such as `events[2].at_s`; empty if no key is meant.
  ///   - message: an error message in the form `expected …, got …`.
  public mutating func report(_ node: Node, _ key: String, _ message: String) {
    let name = file
    errors.add(
      ConfigError(file: name, line: node.mark?.line, column: node.mark?.column, key: key, message: message))
  }

  /// Returns the fields of a mapping, or `nil` if the node is not a mapping, which is reported as an error. Unknown and
  /// repeated fields are reported as errors, too.
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

  /// Returns the items of a list. The result is empty if there is no list, or if the node is not a list, which is
  /// reported as an error.
  public mutating func items(_ node: Node?, _ path: String) -> [Node] {
    guard let node, !node.isNothing else { return [] }
    if let sequence = node.sequence { return Array(sequence) }
    report(node, path, "expected a list, got \(Self.describe(node))")
    return []
  }

  /// Returns the value of a scalar, or `nil` if the node is not a scalar of this kind, which is reported as an error.
  /// Lists are not scalars.
  public mutating func value(_ node: Node, _ path: String, _ kind: ConfigKind) -> ConfigValue? {
    if let text = node.scalar?.string, !node.isNothing, let value = ScalarReader.value(text, as: kind) { return value }
    report(node, path, "expected \(kind.expectation(insteadOf: node.scalar?.string)), got \(Self.describe(node))")
    return nil
  }

  /// Returns a number in a range, or `nil` if the node is not such a number, which is reported as an error.
  public mutating func number(_ node: Node, _ path: String, _ range: ClosedRange<Double>) -> Double? {
    if case .number(let number)? = value(node, path, .number(range)) { number } else { nil }
  }

  /// Returns an integer in a range, or `nil` if the node is not such an integer, which is reported as an error.
  public mutating func integer(_ node: Node, _ path: String, _ range: ClosedRange<Int>) -> Int? {
    if case .integer(let number)? = value(node, path, .integer(range)) { number } else { nil }
  }

  /// Returns one of `words` as written there, regardless of the case in the file, or `nil` if the node is none of them,
  /// which is reported as an error.
  public mutating func word(_ node: Node, _ path: String, _ words: [String]) -> String? {
    if case .text(let word)? = value(node, path, .choice(words)) { word } else { nil }
  }

  /// Returns a text that is not empty, or `nil` if the node is not such a text, which is reported as an error.
  public mutating func text(_ node: Node, _ path: String) -> String? {
    if case .text(let text)? = value(node, path, .text) { text } else { nil }
  }

  /// Returns the two numbers of a list, or `nil` if the node is not a list of two numbers in the range, which is
  /// reported as an error.
  public mutating func pair(_ node: Node, _ path: String, _ range: ClosedRange<Double>) -> (Double, Double)? {
    let items = node.sequence.map(Array.init) ?? []
    guard items.count == 2 else {
      report(node, path, "expected a list of 2 numbers, got \(Self.describe(node))")
      return nil
    }
    guard let first = number(items[0], path, range), let second = number(items[1], path, range) else { return nil }
    return (first, second)
  }

  /// Returns the description of a node for the second half of an error message: the text of a scalar, `nothing`, `a
  /// mapping` or `a list of 3`.
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

// The forms of values that scenarios of all kinds use.
extension FieldReader {
  /// Returns the one of `actions` that an event contains, or `nil` if the event contains none or several, which is
  /// reported as an error.
  mutating func action(_ fields: Fields, _ path: String, among actions: [String]) -> String? {
    let given = fields.names.filter(actions.contains)
    if given.count == 1 { return given[0] }
    let got = given.isEmpty ? "none" : given.joined(separator: " and ")
    report(fields.node, path, "expected one of \(actions.joined(separator: ", ")), got \(got)")
    return nil
  }

  /// Returns the range that a node gives as a number or as a list of the minimum and the maximum, or `nil` if the node
  /// is neither, which is reported as an error.
  mutating func range(_ node: Node, _ path: String) -> ClosedRange<Double>? {
    let any = -1e12...1e12
    if node.sequence == nil { return number(node, path, any).map { $0...$0 } }
    guard let (low, high) = pair(node, path, any) else { return nil }
    guard low <= high else {
      report(node, path, "expected the smaller number first, got [\(low), \(high)]")
      return nil
    }
    return low...high
  }

  /// Reads the configuration that a scenario names, or returns `nil` if the node is not a text, which is reported as an
  /// error. A relative path starts from the folder of the scenario.
  ///
  /// - Throws: the errors of the named configuration.
  mutating func configuration(_ node: Node, _ path: String) throws -> Configuration? {
    guard let name = text(node, path) else { return nil }
    let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? ""
    return try Configuration.read(path: name.hasPrefix("/") ? name : folder + name, environment: processEnvironment())
  }
}
