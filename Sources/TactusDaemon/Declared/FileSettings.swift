/// The keys of a system that is not declared, by their whole paths: `motors.speed_limit`, `network.motor_udp_port`. Of each key one
/// declaration is the table's entry, the default, what is read, and what a reload compares.
public protocol FileSettings: Settings {}

extension FileSettings {
  /// The values of a file over the defaults.
  public init(_ given: GivenValues) {
    self.init(given) { $0.name }
  }

  /// The path of the key that sets this property; a property without a key is a bug of the caller's.
  public static func name(of property: PartialKeyPath<Self>) -> String { key(of: property).name }

  /// The keys whose property has another value than its default.
  public var changed: Set<String> {
    Set(Self.keys.filter { $0.read(self) != $0.standard }.map(\.name))
  }

  /// What a reload may change, and its value here; `nil` where nothing is given.
  public var reloadable: [(key: String, value: ConfigValue?)] {
    Self.keys.filter(\.mayChange).map { ($0.name, $0.read(self)) }
  }
}

extension Array {
  /// For the configuration's table.
  public func asTable<Group: FileSettings>() -> [ConfigKey] where Element == Key<Group> {
    map { ConfigKey($0, $0.name) }
  }
}

extension Settings {
  /// The table's entries of a list's items: `legs[]`.
  public static func table(of list: String) -> [ConfigKey] { keys.map { ConfigKey($0, "\(list).\($0.name)") } }

  /// What a reload may change of the item at a path, `legs[2]`, and its value here.
  public func reloadable(at path: String) -> [(key: String, value: ConfigValue?)] {
    Self.keys.filter(\.mayChange).map { ("\(path).\($0.name)", $0.read(self)) }
  }
}

extension ConfigKey {
  init<Group>(_ key: Key<Group>, _ path: String) {
    self.init(path, key.kind, key.standard, key.unit.describing(key.meaning), mayChange: key.mayChange)
  }
}
