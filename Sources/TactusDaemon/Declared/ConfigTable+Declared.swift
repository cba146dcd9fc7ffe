/// The keys of declared systems.
extension ConfigTable {
  static func keys<System: DeviceSystem>(of _: System.Type) -> [ConfigKey] {
    let keys =
      entries(System.Wiring.keys, of: System.self, mayChange: false)
      + entries(System.Rules.keys, of: System.self, mayChange: true)
    precondition(Set(keys.map(\.path)).count == keys.count, "\(System.self): two of its keys have one name")
    return keys + System.laneKeys.table
  }

  private static func entries<System: DeviceSystem, Group: Settings>(
    _ keys: [Key<Group>], of _: System.Type, mayChange: Bool
  ) -> [ConfigKey] {
    keys.flatMap { key in
      key.items?.table(System.path(of: key), mayChange)
        ?? [ConfigKey(mayChange ? key.reloadable : key, System.path(of: key))]
    }
  }

  /// Its lists of mappings, with the most items of each.
  static func lists<System: DeviceSystem>(of _: System.Type) -> [String: Int] {
    func lists<Group: Settings>(_ keys: [Key<Group>]) -> [String: Int] {
      keys.reduce(into: [:]) { lists, key in lists[System.path(of: key)] = key.items?.most }
    }
    return lists(System.Wiring.keys).merging(lists(System.Rules.keys)) { wiring, rules in
      precondition(wiring == rules, "\(System.self): a list of its wiring and its rules has two sizes")
      return wiring
    }
  }

  /// What its lists of mappings are.
  static func meanings<System: DeviceSystem>(of _: System.Type) -> [String: String] {
    func meanings<Group: Settings>(_ keys: [Key<Group>]) -> [String: String] {
      keys.filter { $0.items != nil }.reduce(into: [:]) { $0[System.path(of: $1)] = $1.meaning }
    }
    return meanings(System.Wiring.keys).merging(meanings(System.Rules.keys)) { wiring, _ in wiring }
  }
}

extension DeviceSystem {
  /// Of the file; one of them is enough for it to run.
  static var sectionsOfFile: [ConfigSection] {
    (self as? any Sections.Type)?.sections
      ?? [ConfigSection(name: name, doc: summary + " It runs when this section is present.")]
  }

  /// Where the file has a key.
  static func path<Group: Settings>(of key: Key<Group>) -> String {
    let sections = sectionsOfFile
    precondition(!sections.isEmpty, "\(self): a system has a section, or no file could make it run")
    let isSection = key.items != nil && sections.contains { $0.name == key.name }
    return key.name.contains(".") || isSection ? key.name : "\(sections[0].name).\(key.name)"
  }

  /// Of `runtime.NAME`.
  static var laneKeys: LaneKeys {
    (self as? any ShapesLane.Type)?.lane ?? LaneKeys("runtime.\(name)", "the lane \(name)", priority: 80)
  }

  /// The lane of a file that says nothing of it.
  static var standardLane: LaneKeys.Values { laneKeys.values(GivenValues(values: [:])) }

  /// What is wrong with the values together.
  ///
  /// - Parameter places: where the file says what; those of no file if the values are not from one.
  static func contradictions(_ wiring: Wiring, _ rules: Rules, _ places: ConfigPlaces) -> [Contradiction] {
    let alone = wiring.contradictions { path(of: $0) } + rules.contradictions { path(of: $0) }
    let found = alone.map { Contradiction(blamed: [($0.key, $0.message)]) }
    guard let system = self as? any ChecksTogether.Type else { return found }
    return found + system.contradictionsTogether(wiring, rules, places)
  }
}

/// What is wrong with some values together: the keys that may be to blame, the likeliest first, with what was expected of each.
struct Contradiction {
  var blamed: [(key: String, message: String)]
}

extension ConfigPlaces {
  /// Of values that no file has given.
  static var none: ConfigPlaces { ConfigPlaces(marks: [:]) }

  /// The error of a contradiction: of its keys the first that the file gives.
  func error(_ file: String, _ contradiction: Contradiction) -> ConfigError {
    let blamed = contradiction.blamed.first { gives($0.key) } ?? contradiction.blamed[0]
    return error(file, blamed.key, blamed.message)
  }
}
