import Tactus
import Yams

// What scenarios of all kinds are written in.
extension FieldReader {
  /// `at_s`.
  mutating func instant(_ fields: Fields, _ path: String) -> Nanoseconds? {
    guard let node = fields.nodes["at_s"] else {
      report(fields.node, path, "expected at_s, got none")
      return nil
    }
    return number(node, "\(path).at_s", 0...86_400).map { .seconds($0) }
  }

  /// The one of `actions` that an event names.
  public mutating func action(_ fields: Fields, _ path: String, among actions: [String]) -> String? {
    let given = fields.names.filter(actions.contains)
    if given.count == 1 { return given[0] }
    let got = given.isEmpty ? "none" : given.joined(separator: " and ")
    report(fields.node, path, "expected one of \(actions.joined(separator: ", ")), got \(got)")
    return nil
  }

  /// A number, or a list of the least and the greatest.
  public mutating func range(_ node: Node, _ path: String) -> ClosedRange<Double>? {
    let any = -1e12...1e12
    if node.sequence == nil { return number(node, path, any).map { $0...$0 } }
    guard let (low, high) = pair(node, path, any) else { return nil }
    guard low <= high else {
      report(node, path, "expected the smaller number first, got [\(low), \(high)]")
      return nil
    }
    return low...high
  }

  /// The configuration that a scenario names, from the scenario's folder unless its path is absolute.
  public mutating func configuration(_ node: Node, _ path: String) throws -> Configuration? {
    guard let name = text(node, path) else { return nil }
    let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? ""
    return try Configuration.read(path: name.hasPrefix("/") ? name : folder + name, environment: processEnvironment())
  }
}
