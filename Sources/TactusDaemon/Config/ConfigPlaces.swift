import Yams

/// Where a file says something: of a key that it does not give, the section or list item that it would be in.
public struct ConfigPlaces {
  let marks: [String: Mark]

  /// The place of a key, or `nil` if the file does not have its section either.
  subscript(key: String) -> Mark? {
    var path = key[...]
    while true {
      if let mark = marks[String(path)] { return mark }
      // Of a system's sections all but one may be left out.
      if let other = ConfigTable.sections(beside: path).lazy.compactMap({ marks[$0] }).first { return other }
      guard let end = path.lastIndex(where: { $0 == "." || $0 == "[" }) else { return nil }
      path = path[..<end]
    }
  }

  /// Returns whether the file has this key, section or list item itself.
  public func gives(_ key: String) -> Bool { marks[key] != nil }

  /// An error at the place of `key`; without a line if the file does not have the section either. It says so where the value is the key's
  /// default.
  ///
  /// - Parameter alone: whether the value of this key is wrong whatever the others are.
  public func error(_ file: String, _ key: String, _ message: String, alone: Bool = false) -> ConfigError {
    let isDefault = !gives(key) && ConfigTable.key(key)?.standard != nil
    return ConfigError(
      file: file, line: self[key]?.line, column: self[key]?.column, key: key,
      message: message + (isDefault ? ", its default" : ""), isAlone: alone)
  }

  /// The error of a rule over several keys: of those in `blames`, the likeliest first, the first that the file gives, with its message.
  public func error(_ file: String, blaming blames: KeyValuePairs<String, String>) -> ConfigError {
    let blamed = blames.first { gives($0.key) } ?? blames[0]
    return error(file, blamed.key, blamed.value)
  }

  /// `line 12: motors.i2c_address`, `line 11: motors.i2c_address (by default)`; without a line if the file does not have the section either.
  public func words(_ key: String) -> String {
    (self[key].map { "line \($0.line): " } ?? "") + key + (gives(key) ? "" : " (by default)")
  }

  /// `motors.max_duty (50)`, `motors.max_duty (50 unless given)`
  public func words(_ key: String, _ value: some CustomStringConvertible) -> String {
    "\(key) (\(value)\(gives(key) ? "" : " unless given"))"
  }
}
