import Service

/// The keys of a section, or of a part of its keys, as a plain struct with its defaults.
public protocol Settings: Sendable {
  /// With every default.
  init()
  /// One for each property.
  @DeclarationBuilder<Key<Self>> static var keys: [Key<Self>] { get }
  /// Rules over more than one key: `report(\.most, "expected at least least_percent, got 15")` names the key that is to blame by its property.
  func check(_ report: (PartialKeyPath<Self>, String) -> Void)
}

extension Settings {
  /// No rule over more than one key.
  public func check(_ report: (PartialKeyPath<Self>, String) -> Void) {}
}

/// A section that has no keys of this kind.
public struct NoSettings: Settings, BitwiseCopyable {
  public init() {}
  public static var keys: [Key<NoSettings>] { [] }
}

/// The list between the braces of `keys`, `fields` and `commands`, one after the other.
@resultBuilder
public enum DeclarationBuilder<Element> {
  /// One of them.
  public static func buildExpression(_ element: Element) -> [Element] { [element] }
  /// A list that was made before: of a part.
  public static func buildExpression(_ elements: [Element]) -> [Element] { elements }
  /// Everything between the braces, in the order in which it is written.
  public static func buildBlock(_ lists: [Element]...) -> [Element] { lists.flatMap { $0 } }
}

extension Settings {
  /// The values of a section, or of a list's item, over the defaults.
  public init(_ given: GivenValues, section: String) { self.init(given) { "\(section).\($0.name)" } }

  /// The values of a file over the defaults.
  ///
  /// - Parameter path: where the file has a key.
  init(_ given: GivenValues, at path: (Key<Self>) -> String) {
    self.init()
    for key in Self.keys {
      if let items = key.items {
        items.fill(given, path(key), &self)
      } else if let value = given.values[path(key)] {
        key.take(value, &self)
      }
    }
  }

  /// The members of a JSON object over what is wanted now.
  ///
  /// - Throws: 422.
  init(_ body: inout JSONReader, over wanted: Self) throws(APIError) {
    self = wanted
    for key in Self.keys where key.items == nil {
      if let value = try body.optional(key.name, key.kind.json) { key.take(value, &self) }
    }
  }

  /// What is wrong with the values together: the key's path and what was expected.
  ///
  /// - Parameter path: where the file has a key.
  func contradictions(at path: (Key<Self>) -> String) -> [(key: String, message: String)] {
    var found: [(String, String)] = []
    check { property, message in found.append((path(Self.key(of: property)), message)) }
    return found + Self.keys.flatMap { key in key.items?.contradictions(self, path(key)) ?? [] }
  }

  /// The same, with the keys' names.
  package var contradictions: [(key: String, message: String)] { contradictions { $0.name } }

  /// The key that sets a property; a property without a key is a bug of the caller's.
  static func key(of property: PartialKeyPath<Self>) -> Key<Self> {
    guard let key = keys.first(where: { $0.path() == property }) else {
      preconditionFailure("\(Self.self): no key sets \(property)")
    }
    return key
  }

  /// The value of each key here, of the items of lists, too; `nil` where nothing is given.
  func values(at path: (Key<Self>) -> String) -> [(key: String, value: ConfigValue?)] {
    Self.keys.flatMap { key in key.items?.values(self, path(key)) ?? [(path(key), key.read(self))] }
  }

  /// These, with the value of `old` for every limit that is wider here; whether there is one.
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

  /// These, and what of them may take effect at once where a wider limit has to wait.
  ///
  /// - Parameter isWhole: whether values contradict nothing.
  func change(from old: Self, isWhole: (Self) -> Bool = { $0.contradictions.isEmpty }) -> (now: Self, whenSafe: Self?) {
    let (now, waits) = tightened(from: old)
    guard waits else { return (self, nil) }
    // Half a change may contradict itself: then nothing of it is taken yet.
    return (isWhole(now) ? now : old, self)
  }
}
