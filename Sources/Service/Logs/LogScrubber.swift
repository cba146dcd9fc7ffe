import Logging

/// Removes secrets from all text that is logged.
///
/// Removed are bearer tokens, `tactus_…` tokens, texts in the form of a JSON web token, the rest of a line after
/// `Authorization`, the values of `token=`, `password=`, `secret=`, `key=` and similar names (in queries, JSON or
/// prose, with `=`, `%3D` or `:`), metadata of such names, and the secrets given to the initialiser wherever they
/// occur. In doubt too much is removed, but `true`, `false` and `null` stay, and what was JSON stays JSON: a number, a list or an object of such a
/// name becomes a text. The time is linear in the length of the text.
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
    // Two keys that contain secrets may be equal after scrubbing.
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

/// The names whose values are secrets.
public enum SecretNames {
  private static let endings = [
    "token", "password", "passwd", "passphrase", "pwd", "secret", "credential", "credentials",
  ]
  .map { Array($0.utf8) }
  private static let authorization = Array("authorization".utf8)
  private static let key = Array("key".utf8)

  /// Returns whether a name stands for a secret: `token`, `accessToken`, `mqtt_password`, `Authorization`, `api-key`,
  /// but not `tokenId`. ASCII case is ignored.
  public static func isSecret(_ name: some Collection<UInt8>) -> Bool {
    isAuthorization(name) || isKey(name) || endings.contains { endsWith($0, name) }
  }

  static func isAuthorization(_ name: some Collection<UInt8>) -> Bool { endsWith(authorization, name) }

  /// Returns whether a name ends in `key`. In prose "key: …" often precedes harmless text, so only `=` makes the rest a value.
  static func isKey(_ name: some Collection<UInt8>) -> Bool { endsWith(key, name) }

  static func endsWith(_ ending: [UInt8], _ name: some Collection<UInt8>) -> Bool {
    name.count >= ending.count && name.suffix(ending.count).elementsEqual(ending) { lowercased($0) == $1 }
  }

  static func lowercased(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte + 32 : byte }
}
