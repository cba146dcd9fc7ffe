import Buses
import Tactus

/// Values of a file over the table's defaults. A wrong type here is a bug in the table, not in the file.
struct GivenValues {
  let values: [String: ConfigValue]

  private func value(_ path: String) -> ConfigValue? {
    guard let key = ConfigTable.key(path) else { preconditionFailure("\(path) is not in the table") }
    return values[path] ?? key.standard
  }

  func optionalInteger(_ path: String) -> Int? {
    if case .integer(let value)? = value(path) { value } else { nil }
  }

  func optionalText(_ path: String) -> String? {
    if case .text(let value)? = value(path) { value } else { nil }
  }

  func optionalLine(_ path: String) -> GPIOLineName? {
    // The reader takes nothing else.
    optionalText(path).map { GPIOLineName($0)! }
  }

  func optionalCPUs(_ path: String) -> CPUSet? {
    // The reader takes nothing else.
    optionalText(path).map { CPUSet($0)! }
  }

  func optionalNumber(_ path: String) -> Double? {
    if case .number(let value)? = value(path) { value } else { nil }
  }

  func optionalIntegers(_ path: String) -> [Int]? {
    if case .integers(let values)? = value(path) { values } else { nil }
  }

  func integer(_ path: String) -> Int {
    guard case .integer(let value)? = value(path) else { preconditionFailure("\(path) is not an integer") }
    return value
  }

  func number(_ path: String) -> Double {
    guard case .number(let value)? = value(path) else { preconditionFailure("\(path) is not a number") }
    return value
  }

  func boolean(_ path: String) -> Bool {
    guard case .boolean(let value)? = value(path) else { preconditionFailure("\(path) is not a boolean") }
    return value
  }

  func text(_ path: String) -> String {
    guard case .text(let value)? = value(path) else { preconditionFailure("\(path) is not text") }
    return value
  }

  func texts(_ path: String) -> [String] {
    guard case .texts(let values)? = value(path) else { preconditionFailure("\(path) is not a list of texts") }
    return values
  }
}
