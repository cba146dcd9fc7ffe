import Logging

/// Takes secrets out of what is logged: the one place where that is decided.
///
/// Gone are bearer tokens, `tactus_…` tokens, anything shaped like a JSON web token, the rest of a line after
/// `Authorization`, the values of `token=`, `password=`, `secret=`, `key=` and their relatives (in queries, JSON or prose,
/// with `=`, `%3D` or `:`), metadata of such names, and the secrets given at creation wherever they stand.
/// Errs on the side of taking too much. Time: linear in the text.
public struct LogScrubber: Sendable {
  /// What stands in a secret's place.
  public static let mark = "[scrubbed]"

  /// Longest first, so that one which contains another goes whole.
  private let secrets: [[UInt8]]

  /// - Parameter secrets: exact texts to take out; those shorter than 8 bytes are ignored.
  public init(secrets: [String] = []) {
    self.secrets = secrets.map { Array($0.utf8) }.filter { $0.count >= 8 }.sorted { $0.count > $1.count }
  }

  /// Returns the text with every secret replaced by `mark`, or as it is if there is none.
  public func scrub(_ text: String) -> String {
    var pass = ScrubbingPass(Array(text.utf8), secrets: secrets)
    return pass.run() ? String(decoding: pass.output, as: UTF8.self) : text
  }

  /// Values by their own text and by their names. Numbers and flags stay what they are.
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
