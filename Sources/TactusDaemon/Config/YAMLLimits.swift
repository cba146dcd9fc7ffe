import Yams

/// How much a YAML file may hold: far more than a configuration or a scenario has, and little enough to be refused in a fraction of a second.
/// Few characters can stand for much (an alias of a list of aliases), so what was composed is counted as well as what was written.
enum YAMLLimits {
  /// Looked at before anything is composed.
  static let bytes = 131_072
  /// Mappings and lists within each other. The parser itself stops at a thousand.
  static let levels = 32
  /// Of one mapping.
  static let keys = 500
  /// Keys and values of the whole file, each counted wherever an alias repeats it.
  static let nodes = 10_000

  static let expectedBytes = "expected at most \(bytes / 1024) KB, got more"
  static let expectedLevels = "expected at most \(levels) levels of mappings and lists within each other, got more"

  /// What is too much, and where; nil if nothing is.
  static func exceeded(in root: Node) -> (message: String, mark: Mark?)? {
    var waiting = [(node: root, level: 1)]
    var count = 0
    while let (node, level) = waiting.popLast() {
      count += 1
      if count > nodes { return ("expected at most \(nodes) keys and values, got more", node.mark) }
      let inner: [Node]
      switch node {
      case .mapping(let mapping):
        if mapping.count > keys { return ("expected at most \(keys) keys here, got \(mapping.count)", node.mark) }
        inner = mapping.flatMap { [$0.key, $0.value] }
      case .sequence(let sequence): inner = Array(sequence)
      case .scalar, .alias: continue
      }
      if level > levels { return (expectedLevels, node.mark) }
      waiting += inner.reversed().map { ($0, level + 1) }
    }
    return nil
  }
}
