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
    /// Larger ones, and 0 most of all, which stands for no limit.
    case upperOrZero
  }

  /// Lower-case letters, digits and `_`: its name in the system's first section. A name with dots is the whole path in the file, which may be in a
  /// section of the program (`network.motor_udp_port`, `safety.safe_mode`, `runtime.robot.rate_hz`); in an item of a list, in that item.
  public let name: String
  /// Which values the key takes.
  package let kind: ConfigKind
  let unit: Unit
  let meaning: String
  /// The default, or `nil` if the key has no value unless it is given.
  let standard: ConfigValue?
  /// It is `nil` for no limit, or one that may become wider at once.
  package let limit: Limit?
  /// The property. Made anew in each call: an appended key path is not `Sendable`, the parts that it is made of are.
  let path: @Sendable () -> PartialKeyPath<Group>
  /// Reads the property, or gives `nil` if it has no value.
  package let read: @Sendable (Group) -> ConfigValue?
  /// Sets the property; `nil` takes away the value of one that need not be given. The reader has checked the value.
  package let take: @Sendable (ConfigValue?, inout Group) -> Void
  /// Of a list of mappings, or `nil` if the key is a single value.
  let items: KeyItems<Group>?
  /// Of a key of `FileSettings`: whether a reload may change it. Of a declared system the group says so for all of its keys.
  private(set) var mayChange = false
  /// Whether its value is the seconds of an instant of the wall clock.
  var isInstant = false

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
  ///
  /// - Parameter limit: as of a number; none at all allows more than any.
  public init<Value: PlainNumber>(
    _ name: String, _ path: WritableKeyPath<Group, Value?> & Sendable, in range: ClosedRange<Value>,
    unit: Unit = .none, limit: Limit? = nil, _ meaning: String
  ) {
    self.init(name, path, ConfigKind(Value.form, from: range.lowerBound, to: range.upperBound), unit, limit, meaning)
  }

  /// A yes or no, one of which allows more.
  ///
  /// - Parameter limit: `.upper` if `true` allows more, `.lower` if `false` does.
  public init(_ name: String, _ path: WritableKeyPath<Group, Bool> & Sendable, limit: Limit, _ meaning: String) {
    self.init(name, path, ConfigKind(Bool.form), .none, limit, meaning)
  }

  /// A list of mappings, `Item` being the keys of each; its default is the property's initial value. The API's settings and the page have no
  /// lists: they are changed in the file.
  ///
  /// A list that has keys of both kinds is a property of `Wiring` and one of `Rules` with the same name, each with its part of an item's keys. A
  /// reload cannot change how many items there are.
  ///
  /// - Parameters:
  ///   - name: of the list in the system's first section; the name of another of its sections is that section.
  ///   - most: how many items it may have, 1 or more.
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
    self.init(
      name, path, kind, unit, limit, meaning, value: { ConfigValue($0.plain) }, make: { Value($0?.plain ?? .nothing) })
  }

  init<Value>(
    _ name: String, _ path: WritableKeyPath<Group, Value> & Sendable, _ kind: ConfigKind, _ unit: Unit, _ limit: Limit?,
    _ meaning: String, value: @escaping @Sendable (Value) -> ConfigValue?,
    make: @escaping @Sendable (ConfigValue?) -> Value?
  ) {
    precondition(Key.isName(name), "a key's name is lower-case letters, digits and _: \(name)")
    (self.name, self.kind, self.unit, self.limit, self.meaning) = (name, kind, unit, limit, meaning)
    items = nil
    standard = value(Group()[keyPath: path])
    self.path = { path }
    read = { value($0[keyPath: path]) }
    take = { given, group in
      guard let value = make(given) else {
        preconditionFailure("\(name): the reader let through \(given.map { "\($0)" } ?? "nothing")")
      }
      group[keyPath: path] = value
    }
  }

  private static func isName(_ name: String) -> Bool {
    name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
      !part.isEmpty
        && part.utf8.allSatisfy { byte in
          (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
        }
    }
  }
}

extension Key {
  /// Whether the value of `new` allows more than that of `old`. A limit that is not given allows more than any.
  package func isWider(_ new: Group, than old: Group) -> Bool {
    guard let limit else { return false }
    let (from, to) = (read(old), read(new))
    guard from != to else { return false }
    guard let from = from?.number else { return false }
    guard let to = to?.number else { return true }
    switch limit {
    case .upper: return to > from
    case .lower: return to < from
    case .upperOrZero: return from != 0 && (to == 0 || to > from)
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
      make: { if case .text(let word)? = $0 { Value(word) } else { nil } })
  }

  /// A list of integers.
  public init(
    _ name: String, _ path: WritableKeyPath<Group, [Int]?> & Sendable, as kind: ConfigKind, _ meaning: String
  ) {
    self.init(
      name, path, kind, .none, nil, meaning, value: { $0.map { .integers($0) } },
      make: { if case .integers(let values)? = $0 { values } else { nil } })
  }

  /// The same, which is there without being given.
  public init(
    _ name: String, _ path: WritableKeyPath<Group, [Int]> & Sendable, as kind: ConfigKind, _ meaning: String
  ) {
    self.init(
      name, path, kind, .none, nil, meaning, value: { .integers($0) },
      make: { if case .integers(let values)? = $0 { values } else { nil } })
  }

  /// A list of texts.
  public init(_ name: String, _ path: WritableKeyPath<Group, [String]> & Sendable, _ meaning: String) {
    self.init(
      name, path, .texts, .none, nil, meaning, value: { .texts($0) },
      make: { if case .texts(let values)? = $0 { values } else { nil } })
  }
}
