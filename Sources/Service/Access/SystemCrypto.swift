import CCrypto

/// Returns the SHA-256 of the bytes in hexadecimal digits.
public func sha256Text(of bytes: [UInt8]) -> String { Hexadecimal.text(SystemCrypto.sha256(bytes)) }

/// The system's libcrypto. A failing function traps: it fails only if the library is broken, and then no code that relies on the library may go on.
enum SystemCrypto {
  /// Returns the SHA-256 of the bytes, 32 bytes long.
  static func sha256(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    let bytes = Array(bytes)
    var digest = [UInt8](repeating: 0, count: 32)
    precondition(crypto_sha256(bytes, bytes.count, &digest) == 0, "libcrypto cannot hash")
    return digest
  }

  /// Returns the HMAC-SHA-256 of the bytes (RFC 2104), 32 bytes long.
  static func hmacSHA256(_ bytes: some Sequence<UInt8>, key: [UInt8]) -> [UInt8] {
    let bytes = Array(bytes)
    var code = [UInt8](repeating: 0, count: 32)
    precondition(
      crypto_hmac_sha256(key, key.count, bytes, bytes.count, &code) == 0, "libcrypto cannot authenticate")
    return code
  }

  /// Returns whether both sequences are the same, in a time that depends on their lengths only.
  static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.count == other.count && crypto_equal(one, other, one.count) != 0
  }

  /// Returns `count` unpredictable bytes.
  static func randomBytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    precondition(crypto_random(&bytes, count) == 0, "libcrypto has no random bytes")
    return bytes
  }
}
