@_spi(FromOutside) import Conversions

/// The text of a token that this service has made: `tactus_`, the identifier, `_`, the secret.
///
/// The identifier (8 characters a–z 2–7, 40 random bits) is public and appears in logs; the secret is 32 random bytes in
/// base64url, and only the SHA-256 of the whole text is ever kept.
struct OpaqueToken {
  static let prefix = "tactus_"
  private static let identifierAlphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

  let identifier: String
  /// The whole text, which a client presents.
  let text: String

  var hash: TokenHash { TokenHash(of: text) }

  /// Makes a new secret for an identifier.
  init(identifier: String, random: (Int) -> [UInt8]) {
    self.identifier = identifier
    text = Self.prefix + identifier + "_" + Base64URL.encode(random(32))
  }

  /// Reads a token's text. Returns `nil` if the text does not have this form. The token's validity is not checked.
  init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count == 7 + 8 + 1 + 43, text.hasPrefix(Self.prefix), bytes[15] == UInt8(ascii: "_"),
      Self.isIdentifier(bytes[7..<15]), Base64URL.decode(bytes[16...]) != nil
    else { return nil }
    identifier = String(decoding: bytes[7..<15], as: UTF8.self)
    self.text = text
  }

  static func isIdentifier(_ text: String) -> Bool { isIdentifier(Array(text.utf8)[...]) }

  private static func isIdentifier(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.count == 8 && bytes.allSatisfy(identifierAlphabet.contains)
  }

  static func newIdentifier(random: (Int) -> [UInt8]) -> String {
    let bits = random(5).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return String(decoding: (0..<8).map { identifierAlphabet[Int(clamping: bits >> (5 * $0) & 31)] }, as: UTF8.self)
  }
}
