import Service

/// One key of a section of the configuration file, and the property that it sets:
///
///     Key("least_percent", \.least, in: 10...100, unit: .percent, "Duty below which the motor does not start.")
///
/// The property's initial value is the key's default, its type the key's type. Settings stay plain structs: the description is
/// beside them, so a tick that reads a property calls nothing.
public struct Key<Group: Settings>: Sendable {
  /// Which values of a limit are wider.
  public enum Limit: Sendable {
    /// Larger ones.
    case upper
    /// Smaller ones.
    case lower
  }

  /// Lower-case letters, digits and `_`: its name in the section. Of `FileSettings` its whole path, with dots.
  public let name: String
  let kind: ConfigKind
  let unit: Unit
  let meaning: String
  /// `nil`: nothing unless given.
  let standard: ConfigValue?
  /// `nil`: no limit, or one that may become wider at once.
  let limit: Limit?
  /// The property. Made anew in each call: an appended key path is not `Sendable`, the parts that it is made of are.
  let path: @Sendable () -> PartialKeyPath<Group>
  let read: @Sendable (Group) -> ConfigValue?
  /// Sets the property. The reader has checked the value.
  let take: @Sendable (ConfigValue, inout Group) -> Void
  /// Of a key of `FileSettings`: whether a reload may change it. Of a declared system the group says so for all of its keys.
  private(set) var mayChange = false
  /// Whether its value is the seconds of an instant of the wall clock.
  var isInstant = false
  /// Of a list of mappings; `nil` if the key is a single value.
  let items: KeyItems<Group>?

  /// A number in a range.
  ///
  /// - Parameter limit: larger (`upper`) or smaller (`lower`) values allow more: while the program runs such a change takes effect when the
  ///   system has been in its safe state; a change the other way takes effect at once.
  public init<Value: PlainNumber>(
    _ name: String, _ path: WritableKeyPath<Group, Value> & Sendable, in range: ClosedRange<Value>, unit: Unit = .none,
    limit: Limit? = nil, _ meaning: String
  ) {
    self.init(name, path, ConfigKind(Value.form, from: range.lowerBound, to: range.upperBound), unit, limit, meaning)
  }

  /// A number that need not be given.
  public init<Value: PlainNumber>(
    _ name: String, _ path: WritableKeyPath<Group, Value?> & Sendable, in range: ClosedRange<Value>,
    unit: Unit = .none, _ meaning: String
  ) {
    self.init(name, path, ConfigKind(Value.form, from: range.lowerBound, to: range.upperBound), unit, nil, meaning)
  }

  /// A list of mappings, `Item` being the keys of each; its default is the property's initial value. The API's settings and the page have no
  /// lists: they are changed in the file. A reload cannot change how many items there are.
  ///
  /// - Parameter most: how many items it may have, 1 or more.
  public init<Item: Settings>(
    _ name: String, _ path: WritableKeyPath<Group, [Item]> & Sendable, upTo most: Int, _ meaning: String
  ) {
    precondition(Key.isName(name), "a key's name is lower-case letters, digits and _: \(name)")
    (self.name, self.meaning, kind, unit) = (name, meaning, .mappings(most: most), .none)
    (standard, limit) = (nil, nil)
    self.path = { path }
    read = { _ in nil }
    take = { _, _ in preconditionFailure("\(name) is a list, which no single value sets") }
    items = KeyItems(path, most: most)
  }

  /// A word, a yes or no, a text, the name of a line.
  public init<Value: PlainChoice>(
    _ name: String, _ path: WritableKeyPath<Group, Value> & Sendable, _ meaning: String
  ) {
    self.init(name, path, ConfigKind(Value.form), .none, nil, meaning)
  }

  /// The same, which need not be given.
  public init<Value: PlainChoice>(
    _ name: String, _ path: WritableKeyPath<Group, Value?> & Sendable, _ meaning: String
  ) {
    self.init(name, path, ConfigKind(Value.form), .none, nil, meaning)
  }

  private init<Value: Plain>(
    _ name: String, _ path: WritableKeyPath<Group, Value> & Sendable, _ kind: ConfigKind, _ unit: Unit, _ limit: Limit?,
    _ meaning: String
  ) {
    self.init(name, path, kind, unit, limit, meaning, value: { ConfigValue($0.plain) }, make: { Value($0.plain) })
  }

  init<Value>(
    _ name: String, _ path: WritableKeyPath<Group, Value> & Sendable, _ kind: ConfigKind, _ unit: Unit, _ limit: Limit?,
    _ meaning: String, value: @escaping @Sendable (Value) -> ConfigValue?,
    make: @escaping @Sendable (ConfigValue) -> Value?
  ) {
    precondition(Key.isName(name), "a key's name is lower-case letters, digits and _: \(name)")
    (self.name, self.kind, self.unit, self.limit, self.meaning) = (name, kind, unit, limit, meaning)
    items = nil
    standard = value(Group()[keyPath: path])
    self.path = { path }
    read = { value($0[keyPath: path]) }
    take = { given, group in
      guard let value = make(given) else { preconditionFailure("\(name): the reader let through \(given)") }
      group[keyPath: path] = value
    }
  }

  /// Only the keys of `FileSettings` have their whole paths.
  private static func isName(_ name: String) -> Bool {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return (parts.count == 1 || Group.self is any FileSettings.Type)
      && parts.allSatisfy { part in
        !part.isEmpty
          && part.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
              || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
          }
      }
  }
}

// MARK: for systems that are not declared

extension Key {
  /// The same key, which a reload may change.
  public var reloadable: Key {
    var key = self
    key.mayChange = true
    return key
  }

  /// A text of a kind that no type stands for: an address.
  public init<Value: Plain>(
    _ name: String, _ path: WritableKeyPath<Group, Value> & Sendable, as kind: ConfigKind, _ meaning: String
  ) {
    self.init(name, path, kind, .none, nil, meaning)
  }

  /// One of some numbers, which the file has as words.
  public init<Value: FixedWidthInteger & Sendable>(
    _ name: String, _ path: WritableKeyPath<Group, Value> & Sendable, oneOf values: [Value], _ meaning: String
  ) {
    self.init(
      name, path, .choice(values.map { "\($0)" }), .none, nil, meaning, value: { .text("\($0)") },
      make: { if case .text(let word) = $0 { Value(word) } else { nil } })
  }

  /// A list of integers.
  public init(
    _ name: String, _ path: WritableKeyPath<Group, [Int]?> & Sendable, as kind: ConfigKind, _ meaning: String
  ) {
    self.init(
      name, path, kind, .none, nil, meaning, value: { $0.map { .integers($0) } },
      make: { if case .integers(let values) = $0 { values } else { nil } })
  }

  /// The same, which is there without being given.
  public init(
    _ name: String, _ path: WritableKeyPath<Group, [Int]> & Sendable, as kind: ConfigKind, _ meaning: String
  ) {
    self.init(
      name, path, kind, .none, nil, meaning, value: { .integers($0) },
      make: { if case .integers(let values) = $0 { values } else { nil } })
  }

  /// A list of texts.
  public init(_ name: String, _ path: WritableKeyPath<Group, [String]> & Sendable, _ meaning: String) {
    self.init(
      name, path, .texts, .none, nil, meaning, value: { .texts($0) },
      make: { if case .texts(let values) = $0 { values } else { nil } })
  }
}

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
  public init(_ given: GivenValues, section: String) {
    self.init()
    for key in Self.keys {
      let path = "\(section).\(key.name)"
      if let items = key.items {
        items.fill(given, path, &self)
      } else if let value = given.values[path] {
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

  /// What is wrong with the values together: the key's name and what was expected.
  var contradictions: [(key: String, message: String)] {
    var found: [(String, String)] = []
    check { path, message in
      guard let key = Self.keys.first(where: { $0.path() == path }) else {
        preconditionFailure("\(Self.self).check blames a property that has no key: \(message)")
      }
      found.append((key.name, message))
    }
    return found + Self.keys.flatMap { $0.items?.contradictions(self, $0.name) ?? [] }
  }

  /// These, and what of them may take effect at once where a wider limit has to wait.
  func change(from old: Self) -> (now: Self, whenSafe: Self?) {
    var now = self
    var waits = false
    for key in Self.keys {
      guard let limit = key.limit, let from = key.read(old)?.number, let to = key.read(self)?.number else { continue }
      guard limit == .upper ? to > from : to < from else { continue }
      waits = true
      key.take(key.read(old)!, &now)
    }
    guard waits else { return (self, nil) }
    // Half a change may contradict itself: then nothing of it is taken yet.
    return (now.contradictions.isEmpty ? now : old, self)
  }
}
