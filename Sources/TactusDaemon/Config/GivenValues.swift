import Tactus

/// Values of a file over the table's defaults. A wrong type here is a bug in the table, not in the file.
package struct GivenValues {
  let values: [String: ConfigValue]

  package init(values: [String: ConfigValue]) {
    self.values = values
  }

  private func value(_ path: String) -> ConfigValue? {
    guard let key = ConfigTable.key(path) else { preconditionFailure("\(path) is not in the table") }
    return values[path] ?? key.standard
  }

  package func optionalInteger(_ path: String) -> Int? {
    if case .integer(let value)? = value(path) { value } else { nil }
  }

  package func optionalText(_ path: String) -> String? {
    if case .text(let value)? = value(path) { value } else { nil }
  }

  package func optionalCPUs(_ path: String) -> CPUSet? {
    // The reader takes nothing else.
    optionalText(path).map { CPUSet($0)! }
  }

  package func integer(_ path: String) -> Int {
    guard case .integer(let value)? = value(path) else { preconditionFailure("\(path) is not an integer") }
    return value
  }

  package func number(_ path: String) -> Double {
    guard case .number(let value)? = value(path) else { preconditionFailure("\(path) is not a number") }
    return value
  }

  package func boolean(_ path: String) -> Bool {
    guard case .boolean(let value)? = value(path) else { preconditionFailure("\(path) is not a boolean") }
    return value
  }

  package func text(_ path: String) -> String {
    guard case .text(let value)? = value(path) else { preconditionFailure("\(path) is not text") }
    return value
  }

  package func texts(_ path: String) -> [String] {
    guard case .texts(let values)? = value(path) else { preconditionFailure("\(path) is not a list of texts") }
    return values
  }
}
