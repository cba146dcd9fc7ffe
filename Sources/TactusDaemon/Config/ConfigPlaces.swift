import Yams

/// Where a file says something: of a key that it does not give, the section or list item that it would be in.
public struct ConfigPlaces {
  let marks: [String: Mark]

  /// nil: the file does not have the section either.
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

  /// An error at the place of `key`; without a line if the file does not have the section either.
  public func error(_ file: String, _ key: String, _ message: String) -> ConfigError {
    ConfigError(file: file, line: self[key]?.line, column: self[key]?.column, key: key, message: message)
  }

  /// `line 12: motors.i2c_address`
  public func words(_ key: String) -> String { (self[key].map { "line \($0.line): " } ?? "") + key }
}
