/// The values of a file, completed by the table's defaults. A value of the wrong type is a bug in the table, not in the file.
struct GivenValues: Sendable {
  let values: [String: ConfigValue]
  /// The number of items of each list in the file.
  let counts: [String: Int]
  /// The paths of values that came from the environment, which are never shown.
  let hidden: Set<String>

  /// Takes the values that a file gives, by path; see `ConfigReader.Result.values`.
  init(values: [String: ConfigValue]) { self.init(values: values, counts: [:], hidden: []) }

  /// Creates the values of all keys that a file gives.
  init(_ found: ConfigReader.Result) {
    self.init(values: found.values, counts: found.counts, hidden: found.hidden)
  }

  init(values: [String: ConfigValue], counts: [String: Int], hidden: Set<String>) {
    (self.values, self.counts, self.hidden) = (values, counts, hidden)
  }

  private func value(_ path: String) -> ConfigValue? {
    guard let key = ConfigTable.key(path) else { preconditionFailure("\(path) is not in the table") }
    return values[path] ?? key.standard
  }

  /// Returns the integer at a path, or `nil` if it is not given and has no default. Traps if the table has no such key.
  func optionalInteger(_ path: String) -> Int? {
    if case .integer(let value)? = value(path) { value } else { nil }
  }

  /// Returns the text at a path, or `nil` if it is not given and has no default. Traps if the table has no such key.
  func optionalText(_ path: String) -> String? {
    if case .text(let value)? = value(path) { value } else { nil }
  }

  /// Returns the integer at a path. Traps if the key is of another kind, or if it is not given and has no default.
  func integer(_ path: String) -> Int {
    guard case .integer(let value)? = value(path) else { preconditionFailure("\(path) is not an integer") }
    return value
  }

  /// Returns the number at a path. Traps if the key is of another kind, or if it is not given and has no default.
  func number(_ path: String) -> Double {
    guard case .number(let value)? = value(path) else { preconditionFailure("\(path) is not a number") }
    return value
  }

  /// Returns the boolean at a path. Traps if the key is of another kind, or if it is not given and has no default.
  func boolean(_ path: String) -> Bool {
    guard case .boolean(let value)? = value(path) else { preconditionFailure("\(path) is not a boolean") }
    return value
  }

  /// Returns the text at a path. Traps if the key's value is not a single text, or if it is not given and has no default.
  func text(_ path: String) -> String {
    guard case .text(let value)? = value(path) else { preconditionFailure("\(path) is not text") }
    return value
  }

  /// Returns the texts at a path. Traps if the key is of another kind, or if it is not given and has no default.
  func texts(_ path: String) -> [String] {
    guard case .texts(let values)? = value(path) else { preconditionFailure("\(path) is not a list of texts") }
    return values
  }
}
