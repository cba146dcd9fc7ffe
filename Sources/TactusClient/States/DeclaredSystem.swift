/// A system as `GET /api/systems` describes it, for which this client has no type of its own.
public struct DeclaredSystem: Codable, Equatable, Sendable, Identifiable {
  /// A field of the state, a setting, or a parameter of a command.
  public struct Value: Codable, Equatable, Sendable, Identifiable {
    /// The name of the field.
    public var name: String
    /// The meaning of the field, in one sentence.
    public var meaning: String
    /// The type: `string`, `number`, `integer`, `boolean` or `array`.
    public var type: String
    /// The symbol of the unit, or empty if there is none.
    public var unit: String
    /// The smallest accepted value, or `nil` if there is no limit.
    public var minimum: Double?
    /// The largest accepted value, or `nil` if there is no limit.
    public var maximum: Double?
    /// The accepted words, or `nil` if any word is accepted.
    public var choices: [String]?
    /// The default value, or `nil` if a value is required.
    public var standard: JSONValue?
    /// The value in effect, for a setting.
    public var value: JSONValue?
    /// Whether the value may change while the daemon runs, for a setting.
    public var mayChange: Bool?

    /// The identity of the field, which is its name.
    public var id: String { name }
  }

  /// A command of the system.
  public struct Command: Codable, Equatable, Sendable, Identifiable {
    /// The name of the command as in its path: `set`, or `{index}/set` for a command on an item of a list.
    public var name: String
    /// The effect of the command, in one sentence.
    public var meaning: String
    /// The permission that the command requires: `control` or `admin`.
    public var scope: String
    /// Whether the command can only make the system safer.
    public var makesSafe: Bool
    /// The parameters of the command.
    public var parameters: [Value]

    /// The identity of the command, which is its name.
    public var id: String { name }
    /// Whether the command is for one item of a list, which is given by its index.
    public var isOfItem: Bool { name.hasPrefix(Self.itemPrefix) }
    /// The name without the place of the index, such as `set`, by which the command is called. A command of the system and one of items may share it.
    public var word: String { isOfItem ? String(name.dropFirst(Self.itemPrefix.count)) : name }

    private static let itemPrefix = "{index}/"
  }

  /// The name of the system, as in `/api/NAME`.
  public var name: String
  /// The name of the system for people.
  public var title: String
  /// The purpose of the system, in one sentence.
  public var summary: String
  /// Whether the system's hardware is simulated.
  public var simulated: Bool
  /// Whether the system drives anything. If not, it has no emergency stop and no reset.
  public var stops: Bool?
  /// The fields of the state.
  public var fields: [Value]
  /// The commands of the system.
  public var commands: [Command]
  /// The settings in the system's section of the configuration, with the values in effect.
  public var settings: [Value]

  /// The identity of the system, which is its name.
  public var id: String { name }
}
