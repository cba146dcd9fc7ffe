import Logging

/// Removes secrets from all text that is logged.
///
/// Removed are bearer tokens, `tactus_…` tokens, texts in the form of a JSON web token, the rest of a line after
/// `Authorization`, the values of `token=`, `password=`, `secret=`, `key=` and similar names (in queries, JSON or
/// prose, with `=`, `%3D` or `:`), metadata of such names, and the secrets given to the initialiser wherever they
/// occur. In doubt too much is removed. The time is linear in the length of the text.
public struct LogScrubber: Sendable {
  /// The text that replaces a secret.
  public static let mark = "[scrubbed]"

  /// The exact secrets, longest first, so that a secret which contains another one is removed as a whole.
  private let secrets: [[UInt8]]

  /// Makes a scrubber.
  ///
  /// - Parameter secrets: exact texts to remove; those shorter than 8 bytes are ignored.
  public init(secrets: [String] = []) {
    self.secrets = secrets.map { Array($0.utf8) }.filter { $0.count >= 8 }.sorted { $0.count > $1.count }
  }

  /// Returns the text with every secret replaced by `mark`, or unchanged if it has none.
  public func scrub(_ text: String) -> String {
    var pass = ScrubbingPass(Array(text.utf8), secrets: secrets)
    return pass.run() ? String(decoding: pass.output, as: UTF8.self) : text
  }

  /// Returns the metadata with secrets removed, recognised by a value's text or by its name. Numbers and flags stay as they are.
  public func scrub(_ metadata: Logger.Metadata) -> Logger.Metadata {
    // Two keys that are secrets are one afterwards.
    Dictionary(
      metadata.map { key, value in
        (scrub(key), SecretNames.isSecret(Array(key.utf8)) ? .string(Self.mark) : scrub(value))
      }, uniquingKeysWith: { first, _ in first })
  }

  private func scrub(_ value: Logger.MetadataValue) -> Logger.MetadataValue {
    switch value {
    case .string(let text): .string(scrub(text))
    case .stringConvertible(is Int), .stringConvertible(is Int64), .stringConvertible(is Double),
      .stringConvertible(is Bool):
      value
    case .stringConvertible(let other): .string(scrub(other.description))
    case .array(let items): .array(items.map { scrub($0) })
    case .dictionary(let members): .dictionary(scrub(members))
    }
  }
}
