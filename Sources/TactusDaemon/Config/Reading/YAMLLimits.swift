import Yams

/// The limits of a YAML file: far above the size of a configuration or a scenario, and low enough that a larger file is
/// refused in a fraction of a second. A few characters can stand for a large structure (an alias of a list of aliases),
/// so both the text and the parsed nodes are counted.
enum YAMLLimits {
  /// The greatest length in bytes, checked before the text is parsed.
  static let bytes = 131_072
  /// The greatest depth of nested mappings and lists. The parser itself stops at a thousand.
  static let levels = 32
  /// The greatest number of keys in one mapping.
  static let keys = 500
  /// The greatest number of keys and values in the whole file, counted again wherever an alias repeats them.
  static let nodes = 10_000

  static let expectedBytes = "expected at most \(bytes / 1024) KB, got more"
  static let expectedLevels = "expected at most \(levels) levels of mappings and lists within each other, got more"

  /// Returns the limit that is exceeded, in words, and where, or `nil` if none is.
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
