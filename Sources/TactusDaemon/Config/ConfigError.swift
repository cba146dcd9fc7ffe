/// One thing wrong with a file the program was given, with its place.
public struct ConfigError: Error, Equatable {
  var file: String
  /// From 1; nil when the file as a whole is meant.
  var line: Int?
  var column: Int?
  /// `motors.speed_limit`; empty when no key is meant.
  var key: String
  var message: String
  /// Whether the value of this key is wrong whatever the others are.
  var isAlone = false
}

extension ConfigError {
  /// Whether this error, of several keys, names a section that has one of `errors`: what could not be read has its default instead, and
  /// may contradict nothing once it is put right.
  func mayComeFrom(_ errors: [ConfigError]) -> Bool {
    !isAlone
      && errors.contains { error in
        // What is no YAML may have been any section.
        guard let section = error.key.split(whereSeparator: { ".[".contains($0) }).first else { return true }
        return key.hasPrefix(section) || message.contains(" \(section).") || message.contains(" \(section) ")
          || message.contains(" \(section)[")
      }
  }
}

extension [ConfigError] {
  /// In a file with more errors, finding what each may have meant takes minutes, and the list is too long to read.
  static var most: Int { 500 }

  /// Adds an error; in place of the one that is too many, that there are more.
  mutating func tell(_ error: @autoclosure () -> ConfigError) {
    guard count <= Self.most else { return }
    var next = error()
    if count == Self.most {
      (next.key, next.message) = ("", "expected fewer errors: these are the first \(Self.most), more begin here")
    }
    append(next)
  }
}

extension ConfigError: CustomStringConvertible {
  /// `file:line:column: key: expected …, got …`
  public var description: String {
    var text = file
    if let line { text += ":\(line)" }
    if let column { text += ":\(column)" }
    return text + ": " + (key.isEmpty ? "" : key + ": ") + message
  }
}

/// All that is wrong with a file, in the order of its lines.
public struct ConfigErrors: Error {
  let errors: [ConfigError]

  /// Sorts the errors by line and column; those without a line come first.
  public init(errors: [ConfigError]) {
    self.errors = errors.sorted { ($0.line ?? 0, $0.column ?? 0) < ($1.line ?? 0, $1.column ?? 0) }
  }
}

extension ConfigErrors: CustomStringConvertible {
  public var description: String { errors.map(\.description).joined(separator: "\n") }
}
