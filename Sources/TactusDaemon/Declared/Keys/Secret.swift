/// A text that is shown to nobody, such as a password: the type of a key is `Secret?`.
///
/// ```swift
/// Key("password", \.password, "Password of the camera.")  // var password: Secret?
/// ```
///
/// Its value is in no log, report, backup, answer or error. The file has a second key for it: `password_file` names a file
/// that holds the secret in its first line, and is read when the program starts, before it is confined. Neither a
/// field nor a column can have this type. The key belongs to `Wiring`, because clients may read rules.
public struct Secret: Sendable, Equatable {
  /// The secret, which is not empty while the program runs. It is empty in `check`, and while the system is only planned, if
  /// the file keeps the secret in a file of its own.
  public let text: String

  /// Creates a secret, for example for a test.
  public init(_ text: String) { self.text = text }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The words that stand for every secret: `a (hidden) value`.
  public var description: String { "a (hidden) value" }
  public var debugDescription: String { description }
  /// A mirror without children, so that `dump` does not show the secret.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Key {
  /// Declares a secret, and with it a key that ends in `_file`.
  public init(_ name: String, _ path: WritableKeyPath<Group, Secret?> & Sendable, _ meaning: String) {
    self.init(
      name, path, .secret, .none, nil, meaning, value: { $0.map { .text($0.text) } },
      make: { given -> Secret?? in
        switch given {
        case .text(let text)?: .some(Secret(text))
        case nil: .some(nil)
        default: nil
        }
      })
  }
}

// MARK: the file that holds a secret

extension Secret {
  /// The end of the name of the key that names the file with a secret.
  static let fileSuffix = "_file"
}

extension ConfigKey {
  /// Returns the entries of the table for a key: two for a secret, otherwise one.
  static func entries<Group>(_ key: Key<Group>, _ path: String) -> [ConfigKey] {
    let own = ConfigKey(key, path)
    guard key.kind == .secret else { return [own] }
    let file = ConfigKey(
      path + Secret.fileSuffix, .secretFile, nil,
      "File that holds it in its first line, in place of \(path); read when the program starts.")
    return [own, file]
  }
}
