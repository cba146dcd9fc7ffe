import Service

/// A file that holds a secret in its first line, as a key of the configuration names it.
struct SecretFile: Sendable, Equatable {
  /// The path of the key that names the file.
  let key: String
  let path: String
  /// Whether the path came from an environment variable. It is then never shown, because somebody may have put the
  /// secret itself into the variable.
  var isHidden = false

  /// The greatest length of a secret in UTF-8 bytes.
  static let most = 1_000

  /// Reads the secret. The first line ends at a line feed or a carriage return, or where the file ends.
  ///
  /// - Throws: an error that names the file and its key, and shows nothing of the file's content.
  func read() throws(ConfigError) -> String {
    let text: String
    do throws(FileFailure) { text = try YAMLFile.read(path) } catch {
      throw self.error("expected a file that can be read, got: \(error.reason)")
    }
    var line = text.unicodeScalars.prefix { $0 != "\n" && $0 != "\r" }
    if line.first == "\u{FEFF}" { line.removeFirst() }
    guard !line.isEmpty else { throw error("expected a secret in the first line, got an empty line") }
    guard !line.contains("\0") else {
      throw error("expected text without a NUL, with which it would end for other programs, got one")
    }
    // What is not UTF-8 has been read as this character.
    guard !line.contains("\u{FFFD}") else { throw error("expected text in UTF-8, got other bytes") }
    let secret = String(line)
    guard secret.utf8.count <= Self.most else {
      throw error("expected a secret of at most \(Self.most) bytes, got \(secret.utf8.count)")
    }
    return secret
  }

  /// Returns an error about the file.
  func error(_ message: String) -> ConfigError {
    ConfigError(file: isHidden ? "a (hidden) path" : path, key: key, message: message)
  }
}

extension GivenValues {
  /// Returns the file that a key names, or `nil` if the configuration does not give the key.
  func secretFile(_ key: String) -> SecretFile? {
    guard case .text(let path)? = values[key] else { return nil }
    return SecretFile(key: key, path: path, isHidden: hidden.contains(key))
  }
}
