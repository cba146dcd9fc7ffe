@_spi(FromOutside) import Conversions
import Tactus
import TactusDaemon

/// The rules of a declared system in one version of its file, with which a daemon of the swarm starts or which a reload
/// puts in effect.
struct DeclaredRules<Rules: Settings>: Equatable {
  let rules: Rules
  private let values: [ConfigValue?]

  init(_ rules: Rules) { (self.rules, values) = (rules, Rules.keys.map { $0.read(rules) }) }

  static func == (one: Self, other: Self) -> Bool { one.values == other.values }

  /// Returns the rules of three files: the defaults, then two sets of random values of every key. A system without
  /// random keys has the defaults three times.
  static func files(_ system: String, seed: UInt64) -> [DeclaredRules] {
    var random = SwarmPlan.stream("\(system).rules", of: seed)
    return [DeclaredRules(Rules())] + (0..<2).map { _ in DeclaredRules(random.rules()) }
  }

  /// Returns the part of these rules that takes effect at once while the old rules are in force, as the declaration
  /// determines it: a limit that becomes wider waits. If half of a change would contradict itself, the whole change
  /// waits.
  func tighter(than old: DeclaredRules) -> DeclaredRules {
    var mixed = rules
    for key in Rules.keys where key.isWider(rules, than: old.rules) { key.take(key.read(old.rules), &mixed) }
    return mixed.contradictions.isEmpty ? DeclaredRules(mixed) : old
  }
}

extension DeclaredRules: CustomStringConvertible {
  var description: String {
    zip(Rules.keys, values).map { "\($0.name) \($1.map { "\($0)" } ?? "none")" }.joined(separator: ", ")
  }
}

extension SplitMix64 {
  /// Returns random rules that do not contradict each other, or the defaults if none are found.
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

  /// Returns a random value, or `nil` if the kind has no plain value; such a key keeps its default.
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
    case .text, .secret, .secretFile, .file, .folder, .host, .textOrNothing, .logFormat, .address, .line, .pwmOutput,
      .sensor, .cpus, .integers, .integerList,
      .texts,
      .mappings, .alwaysTrue:
      return nil
    }
  }
}
