/// One error in a file that the program was given, with its place.
public struct ConfigError: Error, Equatable {
  var file: String
  /// The line, counted from 1, or `nil` if the error concerns the file as a whole.
  var line: Int?
  var column: Int?
  /// The key, such as `motors.speed_limit`; empty if the error concerns no key.
  var key: String
  var message: String
  /// Whether the value of this key is wrong whatever the other values are.
  var isAlone = false
  /// The environment variable that the value names and that is not set, or `nil` if something else is wrong.
  var variable: String?
}

extension ConfigError {
  /// Returns whether this error is about several keys and names a section that has one of `errors`. A key that could
  /// not be read has its default instead, so this error may disappear once the key is corrected.
  func mayComeFrom(_ errors: [ConfigError]) -> Bool {
    !isAlone
      && errors.contains { error in
        // Text that is not YAML may have been any section.
        guard let section = error.key.split(whereSeparator: { ".[".contains($0) }).first else { return true }
        return key.hasPrefix(section) || message.contains(" \(section).") || message.contains(" \(section) ")
          || message.contains(" \(section)[")
      }
  }
}

extension [ConfigError] {
  /// The greatest number of errors reported. With more errors the search for similar names would take minutes, and the
  /// list would be too long to read.
  static var most: Int { 500 }

  /// Adds an error. After the greatest number of errors, adds one entry which states that there are more.
  mutating func add(_ error: @autoclosure () -> ConfigError) {
    guard count <= Self.most else { return }
    var next = error()
    if count == Self.most {
      (next.key, next.message) = ("", "expected fewer errors: these are the first \(Self.most), more begin here")
    }
    append(next)
  }
}

extension ConfigError: CustomStringConvertible {
  /// The error in one line: `file:line:column: key: expected …, got …`.
  public var description: String {
    var text = file
    if let line { text += ":\(line)" }
    if let column { text += ":\(column)" }
    return JSONLine.inOneLine(text + ": " + (key.isEmpty ? "" : key + ": ") + message)
  }
}

/// All errors of a file, in the order of its lines.
public struct ConfigErrors: Error {
  package let errors: [ConfigError]

  /// Sorts the errors by line and column; errors without a line come first.
  public init(errors: [ConfigError]) {
    self.errors = errors.sorted { ($0.line ?? 0, $0.column ?? 0) < ($1.line ?? 0, $1.column ?? 0) }
  }
}

extension ConfigErrors: CustomStringConvertible {
  public var description: String { errors.map(\.description).joined(separator: "\n") }
}
