import Tactus
import Yams

/// A key of a scenario file: an event that acts on a simulated world, or a setting of a setup. `Target` is the type of
/// the world or of the setup.
///
/// ```swift
/// ScenarioWord("pour_litres", .number(0...2)) { world, litres in world.pour(litres) }
/// ```
public struct ScenarioWord<Target> {
  let name: String
  /// The names of the further keys that may stand beside this one and are part of it.
  let company: [String]
  /// Reads the key, which the fields contain, and its further keys. Returns the change of the target, or `nil` if a
  /// value is invalid, which is reported as an error.
  let read: (inout FieldReader, FieldReader.Fields, String) throws -> ((inout Target) -> Void)?

  /// Creates a key.
  ///
  /// - Parameters:
  ///   - name: the key, with its unit last.
  ///   - value: the form of its value.
  ///   - company: the keys that may stand beside this one and are part of it.
  ///   - act: acts on the target, given the value of the key and the values of its company in their order.
  public init<Value, each Other>(
    _ name: String, _ value: ScenarioValue<Value>, with company: repeat ScenarioCompany<each Other>,
    do act: @escaping (inout Target, Value, repeat each Other) -> Void
  ) {
    self.name = name
    var names: [String] = []
    for one in repeat each company { names.append(one.name) }
    self.company = names
    read = { reader, fields, path in
      guard let value = try value.read(&reader, fields.nodes[name]!, FieldReader.path(path, name)) else {
        return nil
      }
      do {
        let others = (repeat try (each company).read(&reader, fields, path))
        return { act(&$0, value, repeat each others) }
      } catch is InvalidCompany {
        return nil
      }
    }
  }

  /// Creates a key without further keys.
  public init<Value>(
    _ name: String, _ value: ScenarioValue<Value>, do act: @escaping (inout Target, Value) -> Void
  ) {
    (self.name, company) = (name, [])
    read = { reader, fields, path in
      try value.read(&reader, fields.nodes[name]!, FieldReader.path(path, name)).map { value in
        { act(&$0, value) }
      }
    }
  }

  /// Creates a key whose only value is `true`.
  public init(_ name: String, do act: @escaping (inout Target) -> Void) {
    self.init(name, .alwaysTrue) { target, _ in act(&target) }
  }

  /// Returns the keys of words and of their companion keys, each once.
  static func keys(_ words: [Self]) -> [String] {
    (words.flatMap(\.company) + words.map(\.name)).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }
}

/// A key of a scenario file that belongs to the key of an event beside it.
public struct ScenarioCompany<Value> {
  let name: String
  fileprivate let value: ScenarioValue<Value>
  fileprivate let standard: Value?

  /// Creates a key.
  ///
  /// - Parameter standard: the value if the key is not given, or `nil` if it must be given.
  public init(_ name: String, _ value: ScenarioValue<Value>, or standard: Value? = nil) {
    (self.name, self.value, self.standard) = (name, value, standard)
  }

  /// Reads the key.
  ///
  /// - Throws: `InvalidCompany` after an error has been reported, and the errors of another file that the key names.
  func read(_ reader: inout FieldReader, _ fields: FieldReader.Fields, _ path: String) throws -> Value {
    guard let value = try reader.value(self, fields, path) else { throw InvalidCompany() }
    return value
  }
}

private struct InvalidCompany: Error {}

extension FieldReader {
  /// Returns the path of a key below another path, which is empty for the file as a whole.
  fileprivate static func path(_ path: String, _ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  /// Reads a mapping in which each key is a word that changes a value.
  ///
  /// - Returns: whether the node is a mapping.
  /// - Throws: the errors of another file that a key names.
  public mutating func read<Target>(
    _ words: [ScenarioWord<Target>], _ node: Node, _ path: String, into target: inout Target
  ) throws -> Bool {
    guard let fields = fields(node, path, known: ScenarioWord.keys(words)) else { return false }
    for name in fields.names { try word(name, among: words, fields, path)?(&target) }
    return true
  }

  /// Reads a key. Returns `nil` if it is invalid, or missing without a standard value, which is reported as an error.
  ///
  /// - Throws: the errors of another file that the key names.
  public mutating func value<Value>(
    _ key: ScenarioCompany<Value>, _ fields: Fields, _ path: String
  ) throws -> Value? {
    if let node = fields.nodes[key.name] { return try key.value.read(&self, node, Self.path(path, key.name)) }
    if key.standard == nil { report(fields.node, path, "expected \(key.name), got none") }
    return key.standard
  }

  /// Reads the word with a name, which the fields contain. Keys that belong to other words are reported as errors.
  ///
  /// - Returns: what the word does to its target, or `nil` if there is no such word, or if it is invalid.
  /// - Throws: the errors of another file that the word names.
  mutating func word<Target>(
    _ name: String, among words: [ScenarioWord<Target>], _ fields: Fields, _ path: String
  ) throws -> ((inout Target) -> Void)? {
    guard let word = words.first(where: { $0.name == name }) else { return nil }
    for key in Set(words.flatMap(\.company)).subtracting(word.company).sorted() {
      if let node = fields.nodes[key] { report(node, Self.path(path, key), "expected none beside \(name)") }
    }
    return try word.read(&self, fields, path)
  }
}
