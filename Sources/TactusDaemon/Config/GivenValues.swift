/// Values of a file over the table's defaults. A wrong type here is a bug in the table, not in the file.
public struct GivenValues: Sendable {
  let values: [String: ConfigValue]
  /// How many items each list has that the file gives.
  let counts: [String: Int]

  /// Takes the values that a file gives, by path: `ConfigReader.Result.values`.
  public init(values: [String: ConfigValue]) { self.init(values: values, counts: [:]) }

  init(values: [String: ConfigValue], counts: [String: Int]) { (self.values, self.counts) = (values, counts) }

  private func value(_ path: String) -> ConfigValue? {
    guard let key = ConfigTable.key(path) else { preconditionFailure("\(path) is not in the table") }
    return values[path] ?? key.standard
  }

  /// The integer at a path; `nil` if it is not given and has no default. Traps if the table has no such key.
  public func optionalInteger(_ path: String) -> Int? {
    if case .integer(let value)? = value(path) { value } else { nil }
  }

  /// The text at a path; `nil` if it is not given and has no default. Traps if the table has no such key.
  public func optionalText(_ path: String) -> String? {
    if case .text(let value)? = value(path) { value } else { nil }
  }

  /// The integer at a path. Traps if the key is of another kind, or neither given nor with a default.
  public func integer(_ path: String) -> Int {
    guard case .integer(let value)? = value(path) else { preconditionFailure("\(path) is not an integer") }
    return value
  }

  /// The number at a path. Traps if the key is of another kind, or neither given nor with a default.
  public func number(_ path: String) -> Double {
    guard case .number(let value)? = value(path) else { preconditionFailure("\(path) is not a number") }
    return value
  }

  /// The boolean at a path. Traps if the key is of another kind, or neither given nor with a default.
  public func boolean(_ path: String) -> Bool {
    guard case .boolean(let value)? = value(path) else { preconditionFailure("\(path) is not a boolean") }
    return value
  }

  /// The text at a path. Traps if the key's value is not one text, or neither given nor with a default.
  public func text(_ path: String) -> String {
    guard case .text(let value)? = value(path) else { preconditionFailure("\(path) is not text") }
    return value
  }

  /// The texts at a path. Traps if the key is of another kind, or neither given nor with a default.
  public func texts(_ path: String) -> [String] {
    guard case .texts(let values)? = value(path) else { preconditionFailure("\(path) is not a list of texts") }
    return values
  }
}
