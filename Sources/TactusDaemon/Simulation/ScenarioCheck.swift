import Tactus
import Yams

/// A key of an expectation in a scenario file, which compares what the world shows with the value of the key.
///
/// ```swift
/// ScenarioCheck("level_litres", .range) { world in world.level }
/// ```
public struct ScenarioCheck<World> {
  /// Compares a world with the expectation at a time since the start, and adds the result to a timeline.
  typealias Judgement = (World, Nanoseconds, inout ScenarioTimeline) -> Void

  let name: String
  /// Reads the key, which the fields contain, or returns `nil` if its value is invalid, which is reported as an error.
  let read: (inout FieldReader, FieldReader.Fields, String) throws -> Judgement?
  /// Returns the value that the world shows, in words. The closure is `nil` for a check of one of several things, which
  /// has no value without the thing's name.
  let seen: ((World) -> String)?

  /// Creates a check.
  ///
  /// - Parameters:
  ///   - name: the key, with its unit last.
  ///   - expectation: the form of the expected value.
  ///   - see: returns what the world shows.
  public init<Seen>(_ name: String, _ expectation: ScenarioExpectation<Seen>, see: @escaping (World) -> Seen) {
    self.name = name
    seen = { "\(see($0))" }
    read = { reader, fields, path in
      try expectation.read(&reader, fields.nodes[name]!, "\(path).\(name)").map { judge in
        { world, at, timeline in judge(&timeline, at, name, see(world)) }
      }
    }
  }

  /// Creates a check of one of several things, which another key of the expectation names.
  ///
  /// - Parameters:
  ///   - name: the key, with its unit last.
  ///   - subject: the key that must stand beside this one, whose value is the name of the thing.
  ///   - expectation: the form of the expected value.
  ///   - see: returns what the world shows of the thing with the name.
  public init<Seen>(
    _ name: String, of subject: String, _ expectation: ScenarioExpectation<Seen>,
    see: @escaping (World, String) -> Seen
  ) {
    self.name = name
    seen = nil
    read = { reader, fields, path in
      let node = fields.nodes[name]!
      guard let thing = fields.nodes[subject]?.scalar?.string else {
        reader.report(node, "\(path).\(name)", "expected \(subject) with it, got none")
        return nil
      }
      return try expectation.read(&reader, node, "\(path).\(name)").map { judge in
        { world, at, timeline in judge(&timeline, at, "\(thing): \(name)", see(world, thing)) }
      }
    }
  }
}

/// The form of an expected value in a scenario file, and the comparison with the value that a world shows.
public struct ScenarioExpectation<Seen> {
  /// Compares the value seen with the expected one, and adds the result to a timeline with the time since the start and
  /// the check's name.
  typealias Judgement = (inout ScenarioTimeline, Nanoseconds, String, Seen) -> Void
  /// Reads a node at a path of the file. Returns `nil` if the value is invalid, which is reported as an error.
  let read: (inout FieldReader, Node, String) throws -> Judgement?

  /// Creates a form.
  ///
  /// - Parameters:
  ///   - value: the form of the value.
  ///   - judge: adds the result of the comparison to a timeline, given the time since the start, the name of what is
  ///     checked, the expected value, and what is seen.
  public init<Value>(
    _ value: ScenarioValue<Value>,
    judge: @escaping (inout ScenarioTimeline, Nanoseconds, String, Value, Seen) -> Void
  ) {
    read = { reader, node, path in
      try value.read(&reader, node, path).map { expected in { judge(&$0, $1, $2, expected, $3) } }
    }
  }

  init(_ read: @escaping (inout FieldReader, Node, String) throws -> Judgement?) { self.read = read }

  /// Returns this expectation for another type, from whose values `see` takes the value to compare.
  func of<Other>(_ see: @escaping (Other) -> Seen) -> ScenarioExpectation<Other> {
    ScenarioExpectation<Other> { reader, node, path in
      try read(&reader, node, path).map { judge in { judge(&$0, $1, $2, see($3)) } }
    }
  }
}

extension ScenarioExpectation<String> {
  /// The expectation of a text that is equal to the text seen.
  public static var text: Self { Self(.text) { $0.compare($1, $2, $3, $4) } }
  /// The expectation of a text that is part of the text seen.
  public static var part: Self { Self(.text) { $0.find($1, $2, $3, in: $4) } }
  /// Returns the expectation of one of the given words, which is equal to the text seen.
  public static func word(_ words: [String]) -> Self { Self(.word(words)) { $0.compare($1, $2, $3, $4) } }
  /// The expectation of `true` or `false`, which is compared with the text seen.
  public static var boolean: Self { Self(.boolean) { $0.compare($1, $2, "\($3)", $4) } }
}

extension ScenarioExpectation<Double?> {
  /// The expectation of a number, or of a value between the two numbers of a list. The value seen is `nil` if it is
  /// unknown, and then fits nothing.
  public static var range: Self {
    Self(ScenarioValue { reader, node, path in reader.range(node, path) }) { $0.measure($1, $2, $3, $4) }
  }
}

extension ScenarioExpectation<[String]> {
  /// Returns the expectation of a text that is among those seen: one of the given words, or any text if none are given.
  public static func item(among words: [String]? = nil) -> Self {
    Self(words.map { .word($0) } ?? .text) { timeline, at, name, expected, seen in
      timeline.compare(at, name, expected, seen.contains(expected) ? expected : "none of that name")
    }
  }

  /// Returns the expectation of a word or a list of words that are all the words seen, in any order. `none` stands for
  /// an empty list.
  public static func all(among words: [String]) -> Self {
    func text(_ words: [String]) -> String { words.isEmpty ? "none" : words.sorted().joined(separator: ", ") }
    let value = ScenarioValue<[String]> { reader, node, path in
      if node.scalar?.string == "none" { return [] }
      let given = (node.sequence.map(Array.init) ?? [node]).map { reader.word($0, path, words) }
      return given.contains(nil) ? nil : given.compactMap(\.self)
    }
    return Self(value) { $0.compare($1, $2, text($3), text($4)) }
  }
}
