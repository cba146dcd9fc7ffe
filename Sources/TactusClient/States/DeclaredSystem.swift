/// A system that the daemon describes, as `GET /api/systems` does: one that this client has no type of its own for.
public struct DeclaredSystem: Codable, Equatable, Sendable, Identifiable {
  /// A field, a setting or a parameter.
  public struct Value: Codable, Equatable, Sendable, Identifiable {
    /// Its name.
    public var name: String
    /// What it means, in a sentence.
    public var meaning: String
    /// `string`, `number`, `integer`, `boolean` or `array`.
    public var type: String
    /// The sign of its unit; empty for none.
    public var unit: String
    /// The smallest value; `nil` for no limit.
    public var minimum: Double?
    /// The largest value; `nil` for no limit.
    public var maximum: Double?
    /// The words that it may be; `nil` if any.
    public var choices: [String]?
    /// The value unless one is given; `nil` if one must be given.
    public var standard: JSONValue?
    /// Of a setting: the value in effect.
    public var value: JSONValue?
    /// Of a setting: whether it may change while the daemon runs.
    public var mayChange: Bool?

    /// Its name.
    public var id: String { name }
  }

  /// A command.
  public struct Command: Codable, Equatable, Sendable, Identifiable {
    /// Its name.
    public var name: String
    /// What it does, in a sentence.
    public var meaning: String
    /// What a token must allow: `control` or `admin`.
    public var scope: String
    /// Whether it can only make the system safer.
    public var makesSafe: Bool
    /// Its parameters.
    public var parameters: [Value]

    /// Its name.
    public var id: String { name }
  }

  /// Its name, as in `/api/NAME`.
  public var name: String
  /// Its name, for people.
  public var title: String
  /// What it is, in a sentence.
  public var summary: String
  /// Whether its hardware is simulated.
  public var simulated: Bool
  /// `false` of a system that drives nothing: it has no e-stop and no reset.
  public var stops: Bool?
  /// The members of its state.
  public var fields: [Value]
  /// Its commands.
  public var commands: [Command]
  /// The keys of its section, with what is in effect.
  public var settings: [Value]

  /// Its name.
  public var id: String { name }
}
