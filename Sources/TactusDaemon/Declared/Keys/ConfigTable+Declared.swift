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
    declared(Set(all.map(\.path)).count == all.count, "\(System.self): two of its keys have one name")
    return together(all) + (System.isWithoutLoops ? [] : System.laneKeys.table)
  }

  /// Returns the same keys, with the keys of one part of a section (such as `plants.app` or `legs[]`) moved to the
  /// position of the part's first key, because the reference shows each part once.
  private static func together(_ keys: [ConfigKey]) -> [ConfigKey] {
    func part(_ key: ConfigKey) -> String? {
      let names = key.path.split(separator: ".")
      return names.count < 3 ? nil : names.prefix(2).joined(separator: ".")
    }
    return keys.reduce(into: []) { sorted, key in
      let last = part(key).flatMap { name in sorted.lastIndex { part($0) == name } }
      sorted.insert(key, at: last.map { $0 + 1 } ?? sorted.count)
    }
  }

  private static func entries<System: DeviceSystem, Group: Settings>(
    _ keys: [Key<Group>], of _: System.Type, mayChange: Bool
  ) -> [ConfigKey] {
    keys.flatMap { key in
      declared(key.addedIn == nil, "\(System.self).\(key.name): `since` is for the columns of a table")
      let path = System.path(of: key, at: System.keyPlace)
      return key.items?.table(path, mayChange) ?? ConfigKey.entries(mayChange ? key.reloadable : key, path)
    }
  }

  /// Returns the names of the system's lists of mappings, with the maximum number of items of each.
  static func lists<System: DeviceSystem>(of _: System.Type) -> [String: Int] {
    func lists<Group: Settings>(_ keys: [Key<Group>]) -> [String: Int] {
      keys.reduce(into: [:]) { lists, key in lists[System.path(of: key, at: System.keyPlace)] = key.items?.most }
    }
    let own = System.several.map { [$0.list: $0.most] } ?? [:]
    return own.merging(lists(System.Wiring.keys)) { $1 }.merging(lists(System.Rules.keys)) { wiring, rules in
      declared(wiring == rules, "\(System.self): a list of its wiring and its rules has two sizes")
      return wiring
    }
  }

  /// Returns the meaning of each of the system's lists of mappings.
  static func meanings<System: DeviceSystem>(of _: System.Type) -> [String: String] {
    func meanings<Group: Settings>(_ keys: [Key<Group>]) -> [String: String] {
      let lists = keys.filter { $0.items != nil && !$0.meaning.isEmpty }
      return lists.reduce(into: [:]) { $0[System.path(of: $1, at: System.keyPlace)] = $1.meaning }
    }
    return meanings(System.Wiring.keys).merging(meanings(System.Rules.keys)) { wiring, _ in wiring }
  }
}

extension DeviceSystem {
  /// The system's sections in the configuration file. The system runs if the file has at least one of them.
  static var sectionsOfFile: [ConfigSection] {
    if let several {
      return [ConfigSection(name: several.list, doc: summary + " Each item of this list is one, with a name.")]
    }
    return (self as? any Sections.Type)?.sections
      ?? [ConfigSection(name: name, doc: summary + " It runs when this section is present.")]
  }

  /// The place of a system of which a file can have only one.
  static var onlyPlace: SystemPlace {
    let sections = sectionsOfFile
    declared(!sections.isEmpty, "\(self): a system has a section, or no file could make it run")
    return SystemPlace(only: name, section: sections[0].name)
  }

  /// The place of the system's keys in the table of keys: `kettle`, or `kettles[]` if the system adopts `Several`.
  static var keyPlace: SystemPlace { several.map { SystemPlace("", of: name, at: "\($0.list)[]") } ?? onlyPlace }

  /// Returns the path in the file of a key that belongs to the system at a place.
  static func path<Group: Settings>(of key: Key<Group>, at place: SystemPlace) -> String {
    let isSection = several == nil && key.items != nil && sectionsOfFile.contains { $0.name == key.name }
    return key.name.contains(".") || isSection ? key.name : "\(place.section).\(key.name)"
  }

  /// The keys of `runtime.NAME`, where NAME is the system's name.
  static var laneKeys: LaneKeys {
    (self as? any ShapesLane.Type)?.lane
      ?? LaneKeys("runtime.\(name)", several == nil ? "the lane \(name)" : "the lane of each \(name)", priority: 80)
  }

  /// The lane settings that apply if the file does not give them.
  static var standardLane: LaneKeys.Values { laneKeys.values(GivenValues(values: [:])) }

  /// Returns the contradictions between the values.
  ///
  /// - Parameter places: the positions of the keys in the file; `ConfigPlaces.none` if the values are not from a file.
  static func contradictions(
    _ wiring: Wiring, _ rules: Rules, at place: SystemPlace, _ places: ConfigPlaces
  ) -> [Contradiction] {
    let alone =
      wiring.contradictions { path(of: $0, at: place) } + rules.contradictions { path(of: $0, at: place) }
    let wrong = wiring.wrongKeys { path(of: $0, at: place) } + rules.wrongKeys { path(of: $0, at: place) }
    let twice = wiring.texts(of: .secret) { path(of: $0, at: place) }.map(\.key).filter { key in
      places.gives(key) && places.gives(key + Secret.fileSuffix)
    }
    let found =
      alone.map { one in Contradiction(blamed: [(one.key, one.message)], isAlone: wrong.contains { $0 == one }) }
      + twice.map { key in
        let file = key + Secret.fileSuffix
        return Contradiction(blamed: [(file, "expected one of \(key) and \(file), got both")])
      }
    guard let system = self as? any ChecksTogether.Type else { return found }
    return found + system.contradictionsTogether(wiring, rules, at: place, places)
  }
}

/// A contradiction between values: the keys that may be to blame, the likeliest first, and the value that was expected
/// for each.
struct Contradiction {
  var blamed: [(key: String, message: String)]
  /// Whether the first key is wrong regardless of all other values.
  var isAlone = false
}

extension ConfigPlaces {
  /// The places of values that were not read from a file.
  static var none: ConfigPlaces { ConfigPlaces(marks: [:]) }

  /// Returns the error for a contradiction. It blames the first of its keys that the file gives.
  func error(_ file: String, _ contradiction: Contradiction) -> ConfigError {
    let blamed = contradiction.blamed.first { gives($0.key) } ?? contradiction.blamed[0]
    return error(file, blamed.key, blamed.message, alone: contradiction.isAlone)
  }
}

extension ConfigKey {
  init<Group>(_ key: Key<Group>, _ path: String) {
    let doc = key.unit.describing(key.meaning) + (key.isRequired ? " It must be given." : "")
    self.init(path, key.kind, key.isRequired ? nil : key.standard, doc, mayChange: key.mayChange)
    // A key outside of the system's section may be left out by a file that has no such system.
    isRequired = key.isRequired && !key.name.contains(".")
    finds = key.finds
  }
}
