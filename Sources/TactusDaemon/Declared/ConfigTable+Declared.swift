/// The keys of declared systems.
extension ConfigTable {
  static func keys<System: DeviceSystem>(of _: System.Type) -> [ConfigKey] {
    let (wiring, rules) = (System.Wiring.keys, System.Rules.keys)
    let names = wiring.map(\.name) + rules.map(\.name)
    precondition(Set(names).count == names.count, "\(System.self): two of its keys have one name")
    let section = System.keySection
    precondition(
      System.several == nil || !names.contains("name"), "\(System.self): its list's items have a name already")
    let called = System.several.map { _ in
      ConfigKey(
        "\(section).name", .text, .text(SystemPlace.standardName),
        "What it is called: at most 16 lower-case letters, digits and dashes, another name than every other one's.")
    }
    return [called].compactMap(\.self)
      + entries(wiring, section, mayChange: false) + entries(rules, section, mayChange: true)
      + lane(of: System.self).table
  }

  private static func entries<Group: Settings>(_ keys: [Key<Group>], _ section: String, mayChange: Bool) -> [ConfigKey]
  {
    keys.flatMap { key in
      let path = "\(section).\(key.name)"
      return key.items?.table(path, mayChange)
        ?? [ConfigKey(path, key.kind, key.standard, key.unit.describing(key.meaning), mayChange: mayChange)]
    }
  }

  /// Its lists of mappings, with the most items of each.
  static func lists<System: DeviceSystem>(of _: System.Type) -> [String: Int] {
    func lists<Group: Settings>(_ keys: [Key<Group>]) -> [String: Int] {
      keys.reduce(into: [:]) { $0["\(System.keySection).\($1.name)"] = $1.items?.most }
    }
    let own = System.several.map { [$0.list: $0.most] } ?? [:]
    return own.merging(lists(System.Wiring.keys)) { $1 }.merging(lists(System.Rules.keys)) { $1 }
  }

  static func lane<System: DeviceSystem>(of _: System.Type) -> LaneKeys {
    LaneKeys(
      "runtime.\(System.name)", System.several == nil ? "the lane \(System.name)" : "the lane of each \(System.name)",
      priority: 80)
  }
}
