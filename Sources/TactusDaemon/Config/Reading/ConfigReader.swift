import Service
import Yams

/// Reads a configuration file against the table of keys. All errors of the file are found, not only the first.
struct ConfigReader {
  /// The contents of a file.
  struct Result: @unchecked Sendable {  // safe: a mark is two numbers
    /// The values by path; only those that the file gives.
    var values: [String: ConfigValue] = [:]
    /// The line and column of each value, section and list item that the file gives.
    var places: [String: Mark] = [:]
    /// The top-level sections that are present, even if they are empty.
    var sections: Set<String> = []
    /// The paths of values that came from the environment, which are never shown.
    var hidden: Set<String> = []
    /// The number of items of each list.
    var counts: [String: Int] = [:]
  }

  let file: YAMLFile
  let environment: EnvironmentReferences
  private var result = Result()
  private var errors: [ConfigError] = []

  static func read(_ file: YAMLFile, environment: [String: String]) throws(ConfigErrors) -> Result {
    let (result, errors) = examine(file, environment: environment)
    guard errors.isEmpty else { throw ConfigErrors(errors: errors) }
    return result
  }

  /// Returns the values that can be read, and all errors. A value with an error counts as not given.
  static func examine(_ file: YAMLFile, environment: [String: String]) -> (Result, [ConfigError]) {
    var reader = ConfigReader(file: file, environment: EnvironmentReferences(environment: environment))
    reader.read()
    return (reader.result, file.errors + reader.errors)
  }

  private init(file: YAMLFile, environment: EnvironmentReferences) {
    self.file = file
    self.environment = environment
  }

  private mutating func read() {
    guard let root = file.root, !root.isNothing else { return }
    readMapping(root, path: "")
  }

  private mutating func readMapping(_ node: Node, path: String) {
    guard let mapping = node.mapping else {
      report(node, path, "expected a mapping of keys, got \(form(node))")
      return
    }
    for (index, (keyNode, value)) in mapping.enumerated() where errors.count <= [ConfigError].most {
      guard let name = file.name(of: keyNode)?.name else {
        report(keyNode, path, "expected a key, got \(form(keyNode))")
        continue
      }
      let child = path.isEmpty ? name : path + "." + name
      if let first = file.earlier(index, in: mapping) {
        report(keyNode, child, "expected each key once, got it again: line \(first.line) has it first")
      }
      if let key = ConfigTable.key(child) {
        readValue(value, key: key, path: child)
      } else if let most = ConfigTable.most(of: child) {
        if path.isEmpty { result.sections.insert(name) }
        result.places[child] = keyNode.mark
        readList(value, path: child, most: most)
      } else if !ConfigTable.names(below: child).isEmpty
        || path.isEmpty && ConfigTable.sections.contains(where: { $0.name == name })
      {
        if path.isEmpty { result.sections.insert(name) }
        result.places[child] = keyNode.mark
        if !value.isNothing { readMapping(value, path: child) }
      } else {
        let shown = name.contains(":") ? "\(name.prefix { $0 != ":" }):…" : name
        report(
          keyNode, path.isEmpty ? shown : path + "." + shown, "expected \(hint(for: name, below: path)), got \(shown)")
      }
    }
  }

  /// Returns the expectation for an unknown key, with the keys that may have been meant.
  private func hint(for name: String, below path: String) -> String {
    if let moved = ConfigTable.moved["\(path).\(name)"] { return "\(moved), as this key is called now" }
    let known = ConfigTable.names(below: path)
    if known.isEmpty { return "no key, because \(path) has none" }
    let meant = [nearestName(to: name, among: known)].compactMap(\.self) + ConfigTable.elsewhere(name)
    let hint = meant.isEmpty ? "one of " + known.joined(separator: ", ") : meant.joined(separator: " or ") + "?"
    return "a known key (\(hint))"
  }

  /// Reads the items of a list of mappings. An empty item has the default of every key.
  private mutating func readList(_ node: Node, path: String, most: Int) {
    let items = node.sequence ?? []
    guard (1...most).contains(items.count) else {
      report(
        node, path,
        "expected \(ConfigKind.mappings(most: most)), got \(items.count > most ? "\(items.count)" : form(node))"
      )
      return
    }
    result.counts[path] = items.count
    for (index, item) in items.enumerated() {
      let child = "\(path)[\(index)]"
      result.places[child] = item.mark
      if !item.isNothing { readMapping(item, path: child) }
    }
  }

  private mutating func readValue(_ node: Node, key: ConfigKey, path: String) {
    result.places[path] = node.mark
    if key.kind == .textOrNothing, node.isNothing { return }
    if case .integers(let count, let range) = key.kind {
      readIntegers(node, key: key, path: path, count: count, range: range)
      return
    }
    if case .integerList(let range, let most) = key.kind {
      readIntegerList(node, key: key, path: path, range: range, most: most)
      return
    }
    if key.kind == .texts {
      readTexts(node, key: key, path: path)
      return
    }
    guard let (text, secret) = expanded(node, key: key, path: path) else { return }
    if let value = ScalarReader.value(text, as: key.kind), !node.isNothing {
      result.values[path] = value
    } else {
      let expected = key.kind.expectation(insteadOf: secret ? nil : text)
      report(node, path, "expected \(expected), got \(describe(node, secret: secret))")
    }
  }

  private mutating func readIntegers(_ node: Node, key: ConfigKey, path: String, count: Int, range: ClosedRange<Int>) {
    var values: [Int] = []
    for item in node.sequence ?? [] {
      guard let (text, _) = expanded(item, key: key, path: path) else { return }
      if case .integer(let value)? = ScalarReader.value(text, as: .integer(range)) { values.append(value) }
    }
    if values.count == count, node.sequence?.count == count {
      result.values[path] = .integers(values)
    } else {
      report(node, path, "expected \(key.kind), got \(describe(node, secret: false))")
    }
  }

  private mutating func readIntegerList(_ node: Node, key: ConfigKey, path: String, range: ClosedRange<Int>, most: Int)
  {
    var values: [Int] = []
    for item in node.sequence ?? [] {
      guard let (text, _) = expanded(item, key: key, path: path) else { return }
      guard case .integer(let value)? = ScalarReader.value(text, as: .integer(range)), !values.contains(value) else {
        return report(
          item, path,
          "expected different integers \(range.lowerBound)…\(range.upperBound), got "
            + describe(item, secret: false))
      }
      values.append(value)
    }
    guard let count = node.sequence?.count, count <= most else {
      return report(node, path, "expected \(key.kind), got \(describe(node, secret: false))")
    }
    result.values[path] = .integers(values)
  }

  private mutating func readTexts(_ node: Node, key: ConfigKey, path: String) {
    guard let items = node.sequence else {
      return report(node, path, "expected \(key.kind), got \(describe(node, secret: false))")
    }
    var values: [String] = []
    for item in items {
      guard let (text, _) = expanded(item, key: key, path: path) else { return }
      guard !text.isEmpty, !item.isNothing else {
        return report(item, path, "expected text, got \(describe(item, secret: false))")
      }
      values.append(text)
    }
    result.values[path] = .texts(values)
  }

  /// Returns the text of a scalar with `${NAME}` replaced, and whether it is secret, or reports an error and returns `nil`.
  private mutating func expanded(
    _ node: Node, key: ConfigKey, path: String? = nil
  ) -> (text: String, secret: Bool)? {
    let path = path ?? key.path
    guard let scalar = node.scalar else {
      // A password that begins with a bracket is a list to YAML, and its text is not for the journal.
      let isHidden = [.text, .secret, .secretFile, .file, .folder].contains(key.kind) && node.sequence != nil
      report(node, path, "expected \(key.kind), got \(isHidden ? "a list" : describe(node, secret: false))")
      return nil
    }
    do throws(EnvironmentReferences.Failure) {
      let (text, secret) = try environment.expand(scalar.string)
      if secret { result.hidden.insert(path) }
      // For the system and for other programs a NUL ends a path, an address or an argument.
      if let place = text.unicodeScalars.enumerated().first(where: { $0.element == "\0" })?.offset {
        report(
          node, path,
          "expected text without a NUL, with which it would end for other programs, got one as character \(place + 1)")
        return nil
      }
      return (text, secret)
    } catch {
      switch error {
      case .missing(let name):
        result.hidden.insert(path)
        report(node, path, "expected the environment variable \(name), got none of that name", variable: name)
      case .malformed:
        report(node, path, "expected ${NAME}, got a '${' without a name and '}'")
      }
      return nil
    }
  }

  private mutating func report(_ node: Node, _ path: String, _ message: String, variable: String? = nil) {
    let name = file.name
    errors.add(
      ConfigError(
        file: name, line: node.mark?.line, column: node.mark?.column, key: path, message: message, variable: variable))
  }

  /// Returns what stands where keys belong. A text is not shown if it may be a key and its secret without a blank behind the colon, or an item of a list
  /// in which a secret may be.
  private func form(_ node: Node) -> String {
    switch node {
    case .scalar(let scalar):
      ScalarReader.number(scalar.string) == nil && !node.isNothing ? "a text" : describe(node, secret: false)
    case .mapping, .alias: describe(node, secret: false)
    case .sequence(let items): items.isEmpty ? "[]" : "a list"
    }
  }

  /// Returns a value in the form in which an error shows it. A value from the environment is never shown.
  private func describe(_ node: Node, secret: Bool) -> String {
    if secret { return "the (hidden) value of \(node.scalar?.string ?? "a variable")" }
    if node.isNothing { return "nothing" }
    return switch node {
    case .scalar(let scalar): scalar.style == .plain ? scalar.string : "'\(scalar.string)'"
    case .mapping: "a mapping"
    case .sequence(let items): "[\(items.map { describe($0, secret: false) }.joined(separator: ", "))]"
    case .alias: "an alias"
    }
  }
}

extension Node {
  /// Whether the value is empty, `~` or `null`.
  public var isNothing: Bool {
    guard let scalar, scalar.style == .plain || scalar.style == .any else { return false }
    return ["", "~", "null"].contains(scalar.string.lowercased())
  }
}
