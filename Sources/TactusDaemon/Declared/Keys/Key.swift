import Service

/// One key of a section of the configuration file, and the property that it sets.
///
/// ```swift
/// Key("least_percent", \.least, in: 10...100, unit: .percent, "Duty below which the motor does not start.")
/// ```
///
/// The initial value of the property is the key's default, and the type of the property is the key's type. A key that
/// does not accept its property's initial value, such as a text that is empty, has no default: it must be given. Settings
/// stay plain structs: the description is stored beside them, so a tick that reads a property calls nothing.
public struct Key<Group: Settings>: Sendable {
  /// The direction in which a change of a limit allows more.
  public enum Limit: Sendable {
    /// Larger values allow more.
    case upper
    /// Smaller values allow more.
    case lower
    /// Larger values allow more, and 0 allows most because it stands for no limit.
    case upperOrZero
    /// This word allows more than every other word.
    case word(String)
  }

  /// The name of the key in the system's first section: lower-case letters, digits and `_`. A name with dots is the
  /// whole path in the file, which may lead into a section of the program (`network.motor_udp_port`,
  /// `safety.safe_mode`, `runtime.robot.rate_hz`); the name of an item's key is relative to the item.
  public let name: String
  /// The kind and range of the values that the key accepts.
  package let kind: ConfigKind
  let unit: Unit
  let meaning: String
  /// The default, or `nil` if the key has no value unless it is given.
  let standard: ConfigValue?
  /// The direction in which the limit becomes wider, or `nil` if the key is not a limit or may become wider at once.
  package let limit: Limit?
  /// Returns the property. The key path is made in each call, because an appended key path is not `Sendable` whereas
  /// its parts are.
  let path: @Sendable () -> PartialKeyPath<Group>
  /// Reads the property, or returns `nil` if it has no value.
  package let read: @Sendable (Group) -> ConfigValue?
  /// Sets the property, or removes its value if the argument is `nil` and the key is optional. The reader has already
  /// checked the value.
  package let take: @Sendable (ConfigValue?, inout Group) -> Void
  /// The keys of the items if the key is a list of mappings, or `nil` if the key is a single value.
  let items: KeyItems<Group>?
  /// Whether a reload may change the key, which the group (`Wiring` or `Rules`) decides.
  private(set) var mayChange = false
  /// Whether a value set by a client is kept over a restart.
  private(set) var isKept = false
  /// The version of the store's format that added the key's column, or `nil` if its table was created with the column.
  private(set) var addedIn: Int?
  /// Returns an error message if the value is wrong regardless of all other values, or `nil` if it is valid; the
  /// property is `nil` if there is no such check.
  private(set) var complaint: (@Sendable (Group) -> String?)?
  /// The kinds of devices that `tactus scan` can find for the key; empty for most keys.
  var finds: [Findable] = []
  /// Whether the value is an instant of the wall clock in seconds.
  var isInstant = false

  /// Declares a number in a range.
  ///
  /// - Parameter limit: whether larger (`upper`) or smaller (`lower`) values allow more. While the program runs, a
  ///   change that allows more takes effect when the system has been in its safe state; a change that allows less takes
  ///   effect at once.
  public init<Value: PlainNumber>(
    _ name: String, _ path: WritableKeyPath<Group, Value> & Sendable, in range: ClosedRange<Value>, unit: Unit = .none,
    limit: Limit? = nil, _ meaning: String
  ) {
    self.init(name, path, ConfigKind(range), unit, limit, meaning)
  }

  /// Declares an optional number in a range.
  ///
  /// - Parameter limit: the direction in which a change allows more, as for a required number; no value allows more
  ///   than any value.
  public init<Value: PlainNumber>(
    _ name: String, _ path: WritableKeyPath<Group, Value?> & Sendable, in range: ClosedRange<Value>,
    unit: Unit = .none, limit: Limit? = nil, _ meaning: String
  ) {
    self.init(name, path, ConfigKind(range), unit, limit, meaning)
  }

  /// Declares a boolean of which one value allows more.
  ///
  /// - Parameter limit: `.upper` if `true` allows more, `.lower` if `false` does.
  public init(_ name: String, _ path: WritableKeyPath<Group, Bool> & Sendable, limit: Limit, _ meaning: String) {
    self.init(name, path, Bool.form.kind, .none, limit, meaning)
  }

  /// Declares a word of which one value allows more than every other.
  ///
  /// - Parameter widest: the word that allows most. While the program runs, a change to it takes effect when the system
  ///   has been in its safe state.
  public init<Value: Word>(
    _ name: String, _ path: WritableKeyPath<Group, Value> & Sendable, widest: Value, _ meaning: String
  ) {
    self.init(name, path, Value.form.kind, .none, .word(widest.rawValue), meaning)
  }

  /// Declares a list of mappings with the keys of `Item`. The default is the initial value of the property. The
  /// settings in the API and on the page do not include lists; they are changed in the file.
  ///
  /// A list with keys of both kinds is a property of `Wiring` and a property of `Rules` with the same name, each with
  /// its part of the item's keys. A reload cannot change the number of items.
  ///
  /// - Parameters:
  ///   - name: the name of the list in the system's first section, or the name of another of its sections, which then
  ///     is the list.
  ///   - most: the maximum number of items, 1 or more.
  public init<Item: Settings>(
    _ name: String, _ path: WritableKeyPath<Group, [Item]> & Sendable, upTo most: Int, _ meaning: String
  ) {
    declared(Key.isName(name), "a key's name is lower-case letters, digits and _: \(name)")
    (self.name, self.meaning, kind, unit) = (name, meaning, .mappings(most: most), .none)
    (standard, limit) = (nil, nil)
    self.path = { path }
    read = { _ in nil }
    take = { _, _ in preconditionFailure("\(name) is a list, which no single value sets") }
    items = KeyItems(path, most: most)
  }

  /// Declares a word, a boolean, a text or the name of a line.
  public init<Value: PlainChoice>(
    _ name: String, _ path: WritableKeyPath<Group, Value> & Sendable, _ meaning: String
  ) {
    self.init(name, path, Value.form.kind, .none, nil, meaning)
  }

  /// Declares an optional word, boolean, text or name of a line.
  public init<Value: PlainChoice>(
    _ name: String, _ path: WritableKeyPath<Group, Value?> & Sendable, _ meaning: String
  ) {
    self.init(name, path, Value.form.kind, .none, nil, meaning)
  }

  private init<Value: Plain>(
    _ name: String, _ path: WritableKeyPath<Group, Value> & Sendable, _ kind: ConfigKind, _ unit: Unit, _ limit: Limit?,
    _ meaning: String
  ) {
    self.init(name, path, kind, unit, limit, meaning, value: { $0.plain }, make: { Value($0) })
  }

  init<Value>(
    _ name: String, _ path: WritableKeyPath<Group, Value> & Sendable, _ kind: ConfigKind, _ unit: Unit, _ limit: Limit?,
    _ meaning: String, value: @escaping @Sendable (Value) -> ConfigValue?,
    make: @escaping @Sendable (ConfigValue?) -> Value?
  ) {
    declared(Key.isName(name), "a key's name is lower-case letters, digits and _: \(name)")
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
  /// The same key of `Rules`, whose value is kept over a restart once a client has set it (`PUT /api/NAME/settings`),
  /// until the file gives the key another value or is reloaded.
  public var kept: Key {
    declared(items == nil, "\(name): a list cannot be kept")
    var key = self
    key.isKept = true
    return key
  }

  /// Returns the same key of a table's row, for a column that a later release adds to a released table. Earlier rows
  /// have the initial value of the property.
  ///
  /// - Parameter step: the version of the store's format that adds the column, later than the table's own.
  public func since(_ step: Int) -> Key {
    var key = self
    key.addedIn = step
    return key
  }

  /// Returns whether the value of `new` allows more than that of `old`. An optional limit without a value allows more
  /// than any value.
  package func isWider(_ new: Group, than old: Group) -> Bool {
    guard let limit else { return false }
    let (from, to) = (read(old), read(new))
    guard from != to else { return false }
    if case .word(let widest) = limit { return to == .text(widest) }
    guard let from = from?.number else { return false }
    guard let to = to?.number else { return true }
    switch limit {
    case .upper: return to > from
    case .lower: return to < from
    case .upperOrZero: return from != 0 && (to == 0 || to > from)
    case .word: return false
    }
  }
}

extension Array {
  /// Returns the properties whose values differ from the defaults of their keys.
  public func changed<Group: Settings>(in group: Group) -> [PartialKeyPath<Group>] where Element == Key<Group> {
    filter { $0.items == nil && $0.read(group) != $0.standard }.map { $0.path() }
  }
}

extension Key {
  /// Returns the same key with a constraint that its type and range cannot express: `.checked { $0.side % 32 == 0 ? nil
  /// : "expected a multiple of 32, got \($0.side)" }`.
  ///
  /// - Parameter complaint: returns `expected …, got …`, or `nil` if the value is valid. It reads no other key:
  ///   constraints on several keys belong in `Settings.check`.
  public func checked(_ complaint: @escaping @Sendable (Group) -> String?) -> Key {
    var key = self
    key.complaint = complaint
    return key
  }
}

// MARK: other kinds of values

extension Key {
  /// The same key, marked as one that a reload may change.
  var reloadable: Key {
    var key = self
    key.mayChange = true
    return key
  }

  /// Declares a text of a kind that no type represents, such as an address.
  public init<Value: Plain>(
    _ name: String, _ path: WritableKeyPath<Group, Value> & Sendable, as kind: ConfigKind, _ meaning: String
  ) {
    declared(kind != .secret && kind != .secretFile, "\(name): a secret has the type Secret?, which nothing shows")
    self.init(name, path, kind, .none, nil, meaning)
  }

  /// Declares an integer that is one of a few values, which the file gives as words.
  public init<Value: FixedWidthInteger & Sendable>(
    _ name: String, _ path: WritableKeyPath<Group, Value> & Sendable, oneOf values: [Value], _ meaning: String
  ) {
    self.init(
      name, path, .choice(values.map { "\($0)" }), .none, nil, meaning, value: { .text("\($0)") },
      make: { if case .text(let word)? = $0 { Value(word) } else { nil } })
  }

  /// Declares an optional list of integers.
  public init(
    _ name: String, _ path: WritableKeyPath<Group, [Int]?> & Sendable, as kind: ConfigKind, _ meaning: String
  ) {
    self.init(
      name, path, kind, .none, nil, meaning, value: { $0.map { .integers($0) } },
      make: { if case .integers(let values)? = $0 { values } else { nil } })
  }

  /// Declares a list of integers that has a value even if the file does not give it.
  public init(
    _ name: String, _ path: WritableKeyPath<Group, [Int]> & Sendable, as kind: ConfigKind, _ meaning: String
  ) {
    self.init(
      name, path, kind, .none, nil, meaning, value: { .integers($0) },
      make: { if case .integers(let values)? = $0 { values } else { nil } })
  }

  /// Declares a list of texts.
  public init(_ name: String, _ path: WritableKeyPath<Group, [String]> & Sendable, _ meaning: String) {
    self.init(
      name, path, .texts, .none, nil, meaning, value: { .texts($0) },
      make: { if case .texts(let values)? = $0 { values } else { nil } })
  }
}
