import Tactus

/// The rules of a declared system under the swarm: those that its file has at the start, and those of two files that a history's reloads read.
struct DeclaredRules<Rules: Settings>: Equatable {
  let rules: Rules
  private let values: [ConfigValue?]

  init(_ rules: Rules) { (self.rules, values) = (rules, Rules.keys.map { $0.read(rules) }) }

  static func == (one: Self, other: Self) -> Bool { one.values == other.values }

  /// The defaults, then random values of every key. A system without such keys has three times the same.
  static func files(_ system: String, seed: UInt64) -> [DeclaredRules] {
    var random = SwarmPlan.stream("\(system).rules", of: seed)
    return [DeclaredRules(Rules())] + (0..<2).map { _ in DeclaredRules(random.rules()) }
  }

  /// The part of these that holds at once where the old ones are in force, as the declaration says it: a limit that becomes wider waits; and if half of
  /// a change would contradict itself, all of it does.
  func tighter(than old: DeclaredRules) -> DeclaredRules {
    var mixed = rules
    for key in Rules.keys {
      guard let limit = key.limit, let from = key.read(old.rules), let to = key.read(rules) else { continue }
      let isWider =
        switch limit {
        case .upper: Self.isLess(from, to)
        case .lower: Self.isLess(to, from)
        }
      if isWider { key.take(from, &mixed) }
    }
    return mixed.contradictions.isEmpty ? DeclaredRules(mixed) : old
  }

  private static func isLess(_ one: ConfigValue, _ other: ConfigValue) -> Bool {
    switch (one, other) {
    case (.integer(let one), .integer(let other)): one < other
    case (.number(let one), .number(let other)): one < other
    default: false
    }
  }
}

extension DeclaredRules: CustomStringConvertible {
  var description: String {
    zip(Rules.keys, values).map { "\($0.name) \($1.map { "\($0)" } ?? "none")" }.joined(separator: ", ")
  }
}

extension SplitMix64 {
  /// Random values that do not contradict each other; the defaults if none are found.
  fileprivate mutating func rules<Rules: Settings>() -> Rules {
    for _ in 0..<20 {
      var rules = Rules()
      for key in Rules.keys {
        if let value = value(of: key.kind) { key.take(value, &rules) }
      }
      if rules.contradictions.isEmpty { return rules }
    }
    return Rules()
  }

  /// `nil` for what no plain value can be: such a key keeps its default.
  private mutating func value(of kind: ConfigKind) -> ConfigValue? {
    let share = within(0...1_000)
    switch kind {
    case .integer(let range):
      let span = Double(range.upperBound) - Double(range.lowerBound)
      return .integer(min(range.upperBound, range.lowerBound + Int(saturating: span * Double(share) / 1_000)))
    case .number(let range):
      return .number(range.lowerBound + (range.upperBound - range.lowerBound) * Double(share) / 1_000)
    case .boolean: return .boolean(share >= 500)
    case .choice(let words): return words.isEmpty ? nil : .text(words[Int(share) % words.count])
    case .text, .textOrNothing, .logFormat, .address, .line, .pwmOutput, .cpus, .integers, .integerList, .texts,
      .mappings,
      .alwaysTrue:
      return nil
    }
  }
}
