@_spi(FromOutside) import Conversions
import Tactus

/// The SHA-256 of a token's text, which is stored in place of the token. Files hold it as 64 hexadecimal digits.
struct TokenHash: Sendable, Equatable {
  private let bytes: [UInt8]

  /// A hash that belongs to no token.
  static let nobody = TokenHash(bytes: SystemCrypto.sha256(SystemCrypto.randomBytes(32)))

  init(of text: String) { bytes = SystemCrypto.sha256(text.utf8) }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// Returns whether both hashes are the same, in a time that does not depend on where they differ.
  func isSame(as other: TokenHash) -> Bool {
    guard Mechanism.tokenCheck.acts else { return true }
    return Mechanism.tokenComparison.acts ? SystemCrypto.areEqual(bytes, other.bytes) : bytes == other.bytes
  }
}

extension TokenHash: Codable {
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let bytes = Hexadecimal.bytes(try container.decode(String.self)), bytes.count == 32 else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected 64 hexadecimal digits")
    }
    self.bytes = bytes
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(Hexadecimal.text(bytes))
  }
}

/// Conversion between bytes and their hexadecimal text, two lower-case digits a byte.
enum Hexadecimal {
  private static let digits = Array("0123456789abcdef".utf8)

  static func text(_ bytes: [UInt8]) -> String {
    String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// Returns the bytes of a text of lower-case digits, or `nil` if a character is no such digit or the number of digits is odd.
  static func bytes(_ text: String) -> [UInt8]? {
    let values = text.utf8.compactMap { digits.firstIndex(of: $0) }
    guard values.count == text.utf8.count, values.count.isMultiple(of: 2) else { return nil }
    return stride(from: 0, to: values.count, by: 2).map { UInt8(clamping: values[$0] << 4 | values[$0 + 1]) }
  }
}
