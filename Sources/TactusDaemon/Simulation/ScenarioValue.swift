import Tactus
import Yams

/// The form of a value in a scenario file, and how the value is read.
public struct ScenarioValue<Value> {
  /// Reads a node at a path of the file. Returns `nil` if the value is invalid, which is reported as an error.
  let read: (inout FieldReader, Node, String) throws -> Value?

  /// Creates a form from a function that reads a node at a path of the file. The function returns `nil` for an invalid
  /// value after it has reported the error, and may throw the errors of another file that the value names.
  public init(_ read: @escaping (inout FieldReader, Node, String) throws -> Value?) { self.read = read }

  /// Returns the form of another value, which is made of this one.
  public func map<Other>(_ transform: @escaping (Value) -> Other) -> ScenarioValue<Other> {
    ScenarioValue<Other> { reader, node, path in try read(&reader, node, path).map(transform) }
  }

  /// Returns the form of one of the given words, each with its value.
  public static func word(_ values: KeyValuePairs<String, Value>) -> Self {
    Self { reader, node, path in
      reader.word(node, path, values.map(\.key)).flatMap { word in values.first { $0.key == word }?.value }
    }
  }

  /// Returns the form of a mapping, each of whose keys changes an initial value. An empty value in the file gives the
  /// initial value.
  public static func keys(of initial: Value, _ words: [ScenarioWord<Value>]) -> Self {
    Self { reader, node, path in
      var value = initial
      return try node.isNothing || reader.read(words, node, path, into: &value) ? value : nil
    }
  }

  /// Returns the form of a list.
  public static func list<Item>(_ item: ScenarioValue<Item>) -> Self where Value == [Item] {
    Self { reader, node, path in
      guard node.sequence != nil || node.isNothing else {
        _ = reader.items(node, path)
        return nil
      }
      let items = try reader.items(node, path).enumerated().map { try item.read(&reader, $1, "\(path)[\($0)]") }
      return items.contains { $0 == nil } ? nil : items.compactMap(\.self)
    }
  }

  /// Returns the form of a text with a syntax of its own.
  ///
  /// - Parameters:
  ///   - example: what the text should be, for the error message: `a date like 2026-03-29`.
  ///   - value: returns the value of a text, or `nil` if the text is invalid.
  public static func text(like example: String, _ value: @escaping (String) -> Value?) -> Self {
    Self { reader, node, path in
      if let value = value(node.scalar?.string ?? "") { return value }
      reader.report(node, path, "expected \(example), got \(FieldReader.describe(node))")
      return nil
    }
  }

  /// Returns this form with a check.
  ///
  /// - Parameters:
  ///   - key: the key below this one that the error names, or `nil` for this one.
  ///   - complaint: returns the error message for an invalid value, or `nil`.
  public func checked(at key: String? = nil, _ complaint: @escaping (Value) -> String?) -> Self {
    Self { reader, node, path in
      guard let value = try read(&reader, node, path) else { return nil }
      guard let complaint = complaint(value) else { return value }
      reader.report(node, key.map { "\(path).\($0)" } ?? path, complaint)
      return nil
    }
  }

  /// Returns the form of a value that is given in this form, or by `true` for `standard`.
  public func orTrue(_ standard: Value) -> Self {
    Self { reader, node, path in
      if let text = node.scalar?.string, ScalarReader.value(text, as: .alwaysTrue) != nil { return standard }
      return try read(&reader, node, path)
    }
  }

  /// Returns the form of a value that is given in this form, or by a mapping with the key of `word` and the keys that
  /// belong to it.
  public func orMapping(_ word: ScenarioWord<Value?>) -> Self {
    Self { reader, node, path in
      guard node.mapping != nil else { return try read(&reader, node, path) }
      guard let fields = reader.fields(node, path, known: ScenarioWord.keys([word])) else { return nil }
      guard fields.nodes[word.name] != nil else {
        reader.report(node, path, "expected \(word.name), got none")
        return nil
      }
      var value: Value?
      try word.read(&reader, fields, path)?(&value)
      return value
    }
  }

  /// Returns the form of a value that is given in this form, or by a list.
  public func orList(_ list: Self) -> Self {
    Self { reader, node, path in try (node.sequence == nil ? self : list).read(&reader, node, path) }
  }

  /// Returns the form of the name of a configuration file. A relative path starts from the folder of the scenario.
  ///
  /// - Parameters:
  ///   - name: the section or key that the file must have, for the error message.
  ///   - value: returns what the scenario takes from the configuration, or `nil` if the configuration has none.
  public static func configuration(with name: String, _ value: @escaping (Configuration) -> Value?) -> Self {
    Self { reader, node, path in
      guard let configuration = try reader.configuration(node, path) else { return nil }
      if let value = value(configuration) { return value }
      reader.report(node, path, "expected a configuration with \(name), got one without")
      return nil
    }
  }
}

extension ScenarioValue where Value: CaseIterable & RawRepresentable<String> {
  /// The form of one of the words of a type.
  public static var word: Self {
    Self { reader, node, path in
      reader.word(node, path, Value.allCases.map(\.rawValue)).flatMap { Value(rawValue: $0) }
    }
  }
}

extension ScenarioValue<String> {
  /// The form of a text that is not empty.
  public static var text: Self { Self { reader, node, path in reader.text(node, path) } }
  /// Returns the form of one of the given words.
  public static func word(_ words: [String]) -> Self { Self { reader, node, path in reader.word(node, path, words) } }
}

extension ScenarioValue<Double> {
  /// Returns the form of a number in a range.
  public static func number(_ range: ClosedRange<Double>) -> Self {
    Self { reader, node, path in reader.number(node, path, range) }
  }
}

extension ScenarioValue<Int> {
  /// Returns the form of an integer in a range.
  public static func integer(_ range: ClosedRange<Int>) -> Self {
    Self { reader, node, path in reader.integer(node, path, range) }
  }
}

extension ScenarioValue<(Double, Double)> {
  /// Returns the form of a list of two numbers in a range.
  public static func pair(_ range: ClosedRange<Double>) -> Self {
    Self { reader, node, path in reader.pair(node, path, range) }
  }
}

extension ScenarioValue<Bool> {
  /// The form of `true` or `false`.
  public static var boolean: Self {
    Self { reader, node, path in
      if case .boolean(let value)? = reader.value(node, path, .boolean) { value } else { nil }
    }
  }
}

extension ScenarioValue<Void> {
  /// The form of a value that can only be `true`.
  public static var alwaysTrue: Self {
    Self { reader, node, path in reader.value(node, path, .alwaysTrue).map { _ in () } }
  }
}
