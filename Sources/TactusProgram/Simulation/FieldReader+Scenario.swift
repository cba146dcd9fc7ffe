import Tactus
import Yams

// What the timelines of all scenarios are written in.
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
  mutating func action(_ fields: Fields, _ path: String, among actions: [String]) -> String? {
    let given = fields.names.filter(actions.contains)
    if given.count == 1 { return given[0] }
    let got = given.isEmpty ? "none" : given.joined(separator: " and ")
    report(fields.node, path, "expected one of \(actions.joined(separator: ", ")), got \(got)")
    return nil
  }

  /// A number, or a list of the least and the greatest.
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

  /// The instant of an expectation and the names of what it checks, at least one.
  mutating func expectation(_ node: Node, _ path: String, known: [String]) -> (Nanoseconds, Fields, [String])? {
    guard let fields = self.fields(node, path, known: ["at_s"] + known), let at = instant(fields, path) else {
      return nil
    }
    let names = fields.names.filter { $0 != "at_s" }
    if names.isEmpty { report(node, path, "expected something besides at_s, got nothing") }
    return (at, fields, names)
  }
}
