/// The keys of declared systems.
extension ConfigTable {
  static func keys<System: DeviceSystem>(of _: System.Type) -> [ConfigKey] {
    let place = System.keyPlace
    let keys =
      entries(System.Wiring.keys, of: System.self, mayChange: false)
      + entries(System.Rules.keys, of: System.self, mayChange: true)
    let called = System.several.map { _ in
      ConfigKey(
        "\(place.section).name", .text, .text(SystemPlace.standardName),
        "What it is called: at most 16 lower-case letters, digits and dashes, another name than every other one's.")
    }
    let all = [called].compactMap(\.self) + keys
    precondition(Set(all.map(\.path)).count == all.count, "\(System.self): two of its keys have one name")
    return all + System.laneKeys.table
  }

  private static func entries<System: DeviceSystem, Group: Settings>(
    _ keys: [Key<Group>], of _: System.Type, mayChange: Bool
  ) -> [ConfigKey] {
    keys.flatMap { key in
      let path = System.path(of: key, at: System.keyPlace)
      return key.items?.table(path, mayChange) ?? [ConfigKey(mayChange ? key.reloadable : key, path)]
    }
  }

  /// Its lists of mappings, with the most items of each.
  static func lists<System: DeviceSystem>(of _: System.Type) -> [String: Int] {
    func lists<Group: Settings>(_ keys: [Key<Group>]) -> [String: Int] {
      keys.reduce(into: [:]) { lists, key in lists[System.path(of: key, at: System.keyPlace)] = key.items?.most }
    }
    let own = System.several.map { [$0.list: $0.most] } ?? [:]
    return own.merging(lists(System.Wiring.keys)) { $1 }.merging(lists(System.Rules.keys)) { wiring, rules in
      precondition(wiring == rules, "\(System.self): a list of its wiring and its rules has two sizes")
      return wiring
    }
  }

  /// What its lists of mappings are.
  static func meanings<System: DeviceSystem>(of _: System.Type) -> [String: String] {
    func meanings<Group: Settings>(_ keys: [Key<Group>]) -> [String: String] {
      keys.filter { $0.items != nil }.reduce(into: [:]) { $0[System.path(of: $1, at: System.keyPlace)] = $1.meaning }
    }
    return meanings(System.Wiring.keys).merging(meanings(System.Rules.keys)) { wiring, _ in wiring }
  }
}

extension DeviceSystem {
  /// Of the file; one of them is enough for it to run.
  static var sectionsOfFile: [ConfigSection] {
    if let several {
      return [ConfigSection(name: several.list, doc: summary + " Each item of this list is one, with a name.")]
    }
    return (self as? any Sections.Type)?.sections
      ?? [ConfigSection(name: name, doc: summary + " It runs when this section is present.")]
  }

  /// The place of the only one of its kind.
  static var onlyPlace: SystemPlace {
    let sections = sectionsOfFile
    precondition(!sections.isEmpty, "\(self): a system has a section, or no file could make it run")
    return SystemPlace(only: name, section: sections[0].name)
  }

  /// Where its keys are in the table of keys: `kettle`, or `kettles[]` of several.
  static var keyPlace: SystemPlace { several.map { SystemPlace("", of: name, at: "\($0.list)[]") } ?? onlyPlace }

  /// Where the file has a key of the system at a place.
  static func path<Group: Settings>(of key: Key<Group>, at place: SystemPlace) -> String {
    let isSection = several == nil && key.items != nil && sectionsOfFile.contains { $0.name == key.name }
    return key.name.contains(".") || isSection ? key.name : "\(place.section).\(key.name)"
  }

  /// Of `runtime.NAME`.
  static var laneKeys: LaneKeys {
    (self as? any ShapesLane.Type)?.lane
      ?? LaneKeys("runtime.\(name)", several == nil ? "the lane \(name)" : "the lane of each \(name)", priority: 80)
  }

  /// The lane of a file that says nothing of it.
  static var standardLane: LaneKeys.Values { laneKeys.values(GivenValues(values: [:])) }

  /// What is wrong with the values together.
  ///
  /// - Parameter places: where the file says what; those of no file if the values are not from one.
  static func contradictions(
    _ wiring: Wiring, _ rules: Rules, at place: SystemPlace, _ places: ConfigPlaces
  ) -> [Contradiction] {
    let alone =
      wiring.contradictions { path(of: $0, at: place) } + rules.contradictions { path(of: $0, at: place) }
    let found = alone.map { Contradiction(blamed: [($0.key, $0.message)]) }
    guard let system = self as? any ChecksTogether.Type else { return found }
    return found + system.contradictionsTogether(wiring, rules, at: place, places)
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
