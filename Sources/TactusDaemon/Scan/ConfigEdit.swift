@_spi(FromOutside) import Conversions
import Yams

/// Puts a value into the text of a configuration file at the place of its key, and changes nothing else: comments, order and
/// spelling of the rest stay.
struct ConfigEdit {
  /// The reason why the text was not changed: what stands in the way, and on which line.
  struct Refusal: Error, Equatable, CustomStringConvertible {
    var key: String
    var message: String
    var line: Int?
    var description: String { (line.map { "line \($0): " } ?? "") + "\(key): \(message)" }
  }

  /// A part of a key: a name, or the number of an item in a list.
  enum Step: Equatable {
    case name(String)
    case item(Int)
  }

  private let key: String
  private let value: String
  /// The lines without their ends.
  private var lines: [[Unicode.Scalar]]
  private let lineEnd: String

  private init(_ key: String, _ value: String, _ text: String) {
    self.key = key
    self.value = ConfigValue.text(value).description
    lineEnd = text.unicodeScalars.contains("\r") ? "\r" : ""
    lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { Array($0) }
  }

  /// Returns the text with the value of a key replaced or added. The result is parsed again: it differs from the text in nothing but
  /// that value.
  ///
  /// - Parameters:
  ///   - key: the path of the key in the file: `leg.i2c_address`, `plants.sensors[0].i2c_address`.
  ///   - value: the value as text, without YAML's quotation marks.
  static func setting(_ key: String, to value: String, in text: String) throws(Refusal) -> String {
    guard let steps = steps(key), case .name? = steps.last else {
      throw Refusal(key: key, message: "expected a key such as section.key or section.list[0].key")
    }
    guard !value.contains("${"), !value.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
      throw Refusal(key: key, message: "expected a value without ${ and control characters")
    }
    return try putting(value, at: steps, of: key, in: text)
  }

  /// Returns the text with the environment variable `name` as the value of a key, as `setting` does.
  static func setting(_ key: String, toVariable name: String, in text: String) throws(Refusal) -> String {
    guard let steps = steps(key) else {
      throw Refusal(key: key, message: "expected a key such as section.key or section.list[0].key")
    }
    return try putting("${\(name)}", at: steps, of: key, in: text)
  }

  private static func putting(
    _ value: String, at steps: [Step], of key: String, in text: String
  ) throws(Refusal) -> String {
    let root: Node?
    do { root = try Yams.compose(yaml: text, .basic) } catch {
      throw Refusal(key: key, message: "expected YAML: \(error)")
    }
    var edit = ConfigEdit(key, value, text)
    try edit.apply(steps, root)
    let result = edit.text
    var wanted = Tree(root)
    try wanted.set(steps[...], value, key)
    guard let changed = try? Yams.compose(yaml: result, .basic), Tree(changed) == wanted else {
      throw Refusal(
        key: key,
        message:
          "expected a place where the value can be put without changing another; put it in by hand: \(edit.value)",
        line: root?.mark?.line)
    }
    return result
  }

  /// Returns whether two parsed texts have the same contents, whatever their comments, order and spelling.
  static func isSame(_ root: Node?, as other: Node?) -> Bool { Tree(root) == Tree(other) }

  static func steps(_ key: String) -> [Step]? {
    var steps: [Step] = []
    for part in key.split(separator: ".", omittingEmptySubsequences: false) {
      let pieces = part.split(separator: "[", omittingEmptySubsequences: false)
      guard let name = pieces.first, !name.isEmpty else { return nil }
      steps.append(.name(String(name)))
      for piece in pieces.dropFirst() {
        guard piece.last == "]", let number = Int(piece.dropLast()), number >= 0 else { return nil }
        steps.append(.item(number))
      }
    }
    return steps
  }

  private var text: String {
    var text = String.UnicodeScalarView()
    text.append(contentsOf: lines.joined(separator: ["\n"]))
    return String(text)
  }

  // MARK: the place

  private mutating func apply(_ steps: [Step], _ root: Node?) throws(Refusal) {
    guard var node = root else { return append(steps) }
    var header: Node?
    for (index, step) in steps.enumerated() {
      switch (step, node) {
      case (.name(let name), .mapping(let mapping)):
        guard let pair = mapping.first(where: { $0.key.string == name }) else {
          if header == nil { return append(steps) }
          return try insert(Array(steps[index...]), into: mapping, below: header)
        }
        (header, node) = (pair.key, pair.value)
      case (.item(let item), .sequence(let sequence)):
        guard item < sequence.count else {
          throw Refusal(
            key: key, message: "expected an item 0…\(sequence.count - 1), got \(item)", line: node.mark?.line)
        }
        node = sequence[item]
        header = node
      case (.name, .scalar(let scalar)) where scalar.string.isEmpty || scalar.string == "null" || scalar.string == "~":
        guard scalar.string.isEmpty, let mark = header?.mark else { fallthrough }
        // In a section without keys the value goes below the section's name.
        return put(Array(steps[index...]), after: mark.line, indent: mark.column - 1 + 2)
      default: throw Refusal(key: key, message: "expected a section or list here", line: node.mark?.line)
      }
    }
    guard case .scalar(let scalar) = node, let header else {
      throw Refusal(key: key, message: "expected one value here", line: node.mark?.line)
    }
    try replace(scalar, of: header)
  }

  private mutating func append(_ steps: [Step]) {
    while lines.last?.isEmpty == true { lines.removeLast() }
    if !lines.isEmpty { lines.append(Array(lineEnd.unicodeScalars)) }
    lines.append([])
    put(steps, after: lines.count - 1, indent: 0)
  }

  /// Puts lines with the keys of the steps and the value after a line, counted from 1.
  private mutating func put(_ steps: [Step], after line: Int, indent: Int) {
    let names = steps.map { if case .name(let name) = $0 { name } else { "" } }
    let new = names.enumerated().map { depth, name -> [Unicode.Scalar] in
      let margin = String(repeating: " ", count: indent + 2 * depth)
      return Array((margin + name + ":" + (depth == names.count - 1 ? " " + value : "") + lineEnd).unicodeScalars)
    }
    lines.insert(contentsOf: new, at: min(line, lines.count))
  }

  private mutating func insert(_ steps: [Step], into mapping: Node.Mapping, below header: Node?) throws(Refusal) {
    guard let mark = mapping.mark, let place = header?.mark else {
      throw Refusal(key: key, message: "expected a section with a place in the file")
    }
    if mapping.style == .flow || at(mark) == "{" {
      guard steps.count == 1, case .name(let name) = steps[0], at(mark) == "{" else {
        throw Refusal(key: key, message: "expected one level in braces; put it in by hand", line: mark.line)
      }
      let words = " \(name): \(value)" + (mapping.isEmpty ? " " : ",")
      lines[mark.line - 1].insert(contentsOf: words.unicodeScalars, at: mark.column)
      return
    }
    let first = mapping.first?.key.mark ?? mark
    put(steps, after: place.line, indent: first.column - 1)
  }

  private func at(_ mark: Mark) -> Unicode.Scalar? {
    guard mark.line >= 1, mark.line <= lines.count, mark.column >= 1, mark.column <= lines[mark.line - 1].count else {
      return nil
    }
    return lines[mark.line - 1][mark.column - 1]
  }

  private mutating func replace(_ scalar: Node.Scalar, of header: Node) throws(Refusal) {
    if scalar.string.isEmpty, scalar.style == .plain {
      guard let mark = header.mark, mark.line <= lines.count,
        let colon = lines[mark.line - 1][(mark.column - 1)...].firstIndex(of: ":")
      else { throw Refusal(key: key, message: "expected a colon behind the key", line: header.mark?.line) }
      lines[mark.line - 1].insert(contentsOf: " \(value)".unicodeScalars, at: colon + 1)
      return
    }
    guard let mark = scalar.mark, let first = at(mark), let end = end(of: scalar, from: mark, first) else {
      throw Refusal(key: key, message: "expected a value on one line; put it in by hand", line: scalar.mark?.line)
    }
    lines[mark.line - 1].replaceSubrange((mark.column - 1)..<end, with: value.unicodeScalars)
  }

  /// Returns the column behind a scalar, or `nil` if it does not end on its line.
  private func end(of scalar: Node.Scalar, from mark: Mark, _ first: Unicode.Scalar) -> Int? {
    let line = lines[mark.line - 1]
    let start = mark.column - 1
    guard first == "'" || first == "\"" else {
      let words = Array(scalar.string.unicodeScalars)
      return line[start...].starts(with: words) ? start + words.count : nil
    }
    var index = start + 1
    while index < line.count {
      if first == "\"", line[index] == "\\" {
        index += 2
      } else if line[index] != first {
        index += 1
      } else if first == "'", index + 1 < line.count, line[index + 1] == "'" {
        index += 2
      } else {
        return index + 1
      }
    }
    return nil
  }
}

/// The contents of a YAML text, without its spelling.
private indirect enum Tree: Equatable {
  case text(String)
  case mapping([String: Tree])
  case list([Tree])

  init(_ node: Node?) {
    switch node {
    case .mapping(let mapping):
      self = .mapping(Dictionary(mapping.map { ($0.key.string ?? "", Tree($0.value)) }) { first, _ in first })
    case .sequence(let sequence): self = .list(sequence.map { Tree($0) })
    case .scalar(let scalar): self = .text(scalar.string)
    case .alias, nil: self = .text("")
    }
  }

  mutating func set(_ steps: ArraySlice<ConfigEdit.Step>, _ value: String, _ key: String) throws(ConfigEdit.Refusal) {
    guard let step = steps.first else {
      self = .text(value)
      return
    }
    switch (step, self) {
    case (.name(let name), .mapping(var entries)):
      var inner = entries[name] ?? .text("")
      try inner.set(steps.dropFirst(), value, key)
      entries[name] = inner
      self = .mapping(entries)
    case (.item(let item), .list(var items)) where item < items.count:
      try items[item].set(steps.dropFirst(), value, key)
      self = .list(items)
    case (.name(let name), .text("")):
      var inner = Tree.text("")
      try inner.set(steps.dropFirst(), value, key)
      self = .mapping([name: inner])
    default: throw ConfigEdit.Refusal(key: key, message: "expected a section or list on the way")
    }
  }
}
