import Yams

/// The places of keys in a file. A key that the file does not give has the place of the section or list item to which it belongs.
struct ConfigPlaces {
  let marks: [String: Mark]

  /// The place of a key, or `nil` if the file does not have the key's section either.
  subscript(key: String) -> Mark? {
    var path = key[...]
    while true {
      if let mark = marks[String(path)] { return mark }
      // A file may omit all but one of a system's sections.
      if let other = ConfigTable.sections(beside: path).lazy.compactMap({ marks[$0] }).first { return other }
      guard let end = path.lastIndex(where: { $0 == "." || $0 == "[" }) else { return nil }
      path = path[..<end]
    }
  }

  /// Returns whether the file has this key, section or list item itself.
  func gives(_ key: String) -> Bool { marks[key] != nil }

  /// Returns an error at the place of `key`; without a line if the file does not have the section either. If the value
  /// is the key's default, the message says so.
  ///
  /// - Parameter alone: whether the value of this key is wrong whatever the other values are.
  func error(_ file: String, _ key: String, _ message: String, alone: Bool = false) -> ConfigError {
    let isDefault = !gives(key) && ConfigTable.key(key)?.standard != nil
    return ConfigError(
      file: file, line: self[key]?.line, column: self[key]?.column, key: key,
      message: message + (isDefault ? ", its default" : ""), isAlone: alone)
  }

  /// Returns the error of a rule over several keys. The error is placed at the first key of `blames` that the file
  /// gives; `blames` has the likeliest key first, each with its message.
  func error(_ file: String, blaming blames: KeyValuePairs<String, String>) -> ConfigError {
    let blamed = blames.first { gives($0.key) } ?? blames[0]
    return error(file, blamed.key, blamed.value)
  }

  /// Returns the key with its line: `line 12: motors.i2c_address` or `line 11: motors.i2c_address (by default)`;
  /// without a line if the file does not have the section either.
  func location(of key: String) -> String {
    (self[key].map { "line \($0.line): " } ?? "") + key + (gives(key) ? "" : " (by default)")
  }

  /// Returns the key with its value: `motors.max_duty (50)` or `motors.max_duty (50 unless given)`.
  func setting(_ key: String, _ value: some CustomStringConvertible) -> String {
    "\(key) (\(value)\(gives(key) ? "" : " unless given"))"
  }
}
