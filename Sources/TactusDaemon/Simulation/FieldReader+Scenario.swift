import Yams

// What scenarios of all kinds are written in.
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
