import Service

/// The keys of a section, or of a part of a section, as a plain struct with default values.
public protocol Settings: Sendable {
  /// Creates the settings with the default of every key.
  init()
  /// The declarations of the keys, one for each property.
  @DeclarationBuilder<Key<Self>> static var keys: [Key<Self>] { get }
  /// Checks the constraints on more than one key. `report(\.most, "expected at least least_percent, got 15")`
  /// identifies the key to blame by its property.
  func check(_ report: (PartialKeyPath<Self>, String) -> Void)
}

extension Settings {
  /// Reports nothing, because by default there are no constraints on several keys.
  public func check(_ report: (PartialKeyPath<Self>, String) -> Void) {}
}

/// The settings of a section that has no keys of this kind.
public struct NoSettings: Settings, BitwiseCopyable {
  public init() {}
  public static var keys: [Key<NoSettings>] { [] }
}

/// The result builder of `keys`, `fields` and `commands`: it concatenates the elements between the braces.
@resultBuilder
public enum DeclarationBuilder<Element> {
  /// Adds one element to the list.
  public static func buildExpression(_ element: Element) -> [Element] { [element] }
  /// Adds a list of elements, such as those of a part.
  public static func buildExpression(_ elements: [Element]) -> [Element] { elements }
  /// Concatenates everything between the braces in the order in which it is written.
  public static func buildBlock(_ lists: [Element]...) -> [Element] { lists.flatMap { $0 } }
}

extension Settings {
  /// Creates the values of a section, or of a list's item; keys that the file does not give have their defaults.
  init(_ given: GivenValues, section: String) { self.init(given) { "\(section).\($0.name)" } }

  /// Creates the values from those of a file; keys that the file does not give have their defaults.
  ///
  /// - Parameter path: returns the path of a key in the file.
  init(_ given: GivenValues, at path: (Key<Self>) -> String) {
    self.init()
    for key in Self.keys {
      if let items = key.items {
        items.fill(given, path(key), &self)
      } else if let value = given.values[path(key)] {
        key.take(value, &self)
      } else if key.kind == .secret, given.values[path(key) + Secret.fileSuffix] != nil {
        // An empty text stands for a secret in a file that has not been read.
        key.take(.text(""), &self)
      }
    }
  }

  /// Creates the values from the members of a JSON object; keys that the object does not give keep their values in `wanted`. The members are in camel
  /// case. Names as spelled in the file, which the store contains, are accepted, too.
  ///
  /// - Throws: an `APIError` with status 422 if a member is invalid.
  init(_ body: inout JSONReader, over wanted: Self) throws(APIError) {
    self = wanted
    for key in Self.keys where key.items == nil {
      let name = body.has(key.name) ? key.name : key.member
      if let value = try body.optional(name, key.kind.json) { key.take(value, &self) }
    }
  }

  /// Returns the contradictions between the values: the path of each key, and the value that was expected.
  ///
  /// - Parameter path: returns the path of a key in the file.
  func contradictions(at path: (Key<Self>) -> String) -> [(key: String, message: String)] {
    var found: [(String, String)] = wrongOwnKeys(at: path)
    let inFiles = Set(texts(of: .secret, at: path).filter(\.text.isEmpty).map(\.key))
    check { property, message in
      if let key = self.path(of: property, at: path) {
        found.append((inFiles.contains(key) ? key + Secret.fileSuffix : key, message))
      } else {
        // A broken rule is reported even if its declaration blames a property that no key sets.
        found += Self.keys.prefix(1).map { (path($0), "\(message) (of \(property), which no key sets)") }
      }
    }
    return found + Self.keys.flatMap { key in key.items?.contradictions(self, path(key)) ?? [] }
  }

  /// Returns the keys, including those of list items, whose values are wrong regardless of all other values.
  func wrongKeys(at path: (Key<Self>) -> String) -> [(key: String, message: String)] {
    wrongOwnKeys(at: path) + Self.keys.flatMap { key in key.items?.wrongKeys(self, path(key)) ?? [] }
  }

  /// Returns the keys, including those of list items, that the file must give and that still have their initial values.
  func missingKeys(at path: (Key<Self>) -> String) -> [(key: String, message: String)] {
    Self.keys.flatMap { key -> [(key: String, message: String)] in
      if let items = key.items { return items.missingKeys(self, path(key)) }
      guard key.isRequired, key.read(self) == key.standard else { return [] }
      return [(path(key), "expected \(key.kind), got nothing: it has no default")]
    }
  }

  private func wrongOwnKeys(at path: (Key<Self>) -> String) -> [(key: String, message: String)] {
    Self.keys.compactMap { key in key.complaint?(self).map { (path(key), $0) } }
  }

  /// The contradictions between the values, with the names of the keys.
  package var contradictions: [(key: String, message: String)] { contradictions { $0.name } }

  /// Returns the key that sets a property. Passing a property without a key is a programming error and traps.
  static func key(of property: PartialKeyPath<Self>) -> Key<Self> {
    guard let key = keys.first(where: { $0.path() == property }) else {
      misdeclared("\(Self.self): no key sets \(property)")
    }
    return key
  }

  /// Returns the path in the file of a property, which may be one of a list's item (`\.lamps[0].line`); `nil` if no key sets it, or the list has no
  /// such item.
  ///
  /// - Parameter path: returns the path of a key in the file.
  func path(of property: PartialKeyPath<Self>, at path: (Key<Self>) -> String) -> String? {
    for key in Self.keys {
      if key.path() == property { return path(key) }
      if let found = key.items?.path(self, path(key), property) { return found }
    }
    return nil
  }

  /// Returns the value of each key, including the keys of list items; `nil` if the key has no value.
  func values(at path: (Key<Self>) -> String) -> [(key: String, value: ConfigValue?)] {
    Self.keys.flatMap { key in key.items?.values(self, path(key)) ?? [(path(key), key.read(self))] }
  }

  /// Returns the path and the text of each key of a kind that has a value, including the keys of list items.
  ///
  /// - Parameter kind: a kind whose values are single texts, such as `file`.
  func texts(of kind: ConfigKind, at path: (Key<Self>) -> String) -> [(key: String, text: String)] {
    Self.keys.flatMap { key -> [(key: String, text: String)] in
      if let items = key.items { return items.texts(self, path(key), kind) }
      guard key.kind == kind, case .text(let text)? = key.read(self) else { return [] }
      return [(path(key), text)]
    }
  }

  /// Returns these settings with the value of `old` for every limit that is wider here, and whether any limit was
  /// replaced.
  func tightened(from old: Self) -> (settings: Self, isTighter: Bool) {
    var (settings, isTighter) = (self, false)
    for key in Self.keys {
      if let items = key.items {
        isTighter = items.tighten(&settings, old) || isTighter
      } else if key.isWider(self, than: old) {
        key.take(key.read(old), &settings)
        isTighter = true
      }
    }
    return (settings, isTighter)
  }

  /// Returns the settings that may take effect at once, and those that have to wait for the safe state because a limit
  /// is wider; `whenSafe` is `nil` if no change has to wait.
  ///
  /// - Parameter isWhole: returns whether values have no contradictions.
  func change(from old: Self, isWhole: (Self) -> Bool = { $0.contradictions.isEmpty }) -> (now: Self, whenSafe: Self?) {
    let (now, waits) = tightened(from: old)
    guard waits else { return (self, nil) }
    // Half of a change may contradict itself; then all of it waits for the safe state.
    return (isWhole(now) ? now : old, self)
  }
}
