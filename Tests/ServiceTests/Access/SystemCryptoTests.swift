import Tactus
import Testing

@testable import Service

@Suite("libcrypto")
struct SystemCryptoTests {
  @Test("SHA-256: FIPS 180-4's example and the empty text")
  func sha256() {
    #expect(
      Hexadecimal.text(SystemCrypto.sha256("abc".utf8))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      Hexadecimal.text(SystemCrypto.sha256([]))
        == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
  }

  @Test("HMAC-SHA-256: RFC 4231's cases 1 and 2")
  func hmac() {
    #expect(
      Hexadecimal.text(SystemCrypto.hmacSHA256("Hi There".utf8, key: [UInt8](repeating: 0x0B, count: 20)))
        == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
    #expect(
      Hexadecimal.text(SystemCrypto.hmacSHA256("what do ya want for nothing?".utf8, key: Array("Jefe".utf8)))
        == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
  }

  @Test("comparison: only the same bytes are equal; another length never is")
  func equality() {
    let bytes = SystemCrypto.randomBytes(32)
    #expect(SystemCrypto.areEqual(bytes, bytes))
    #expect(SystemCrypto.areEqual([], []))
    #expect(!SystemCrypto.areEqual(bytes, Array(bytes.dropLast())))
    for index in bytes.indices {
      var other = bytes
      other[index] ^= 0x80
      #expect(!SystemCrypto.areEqual(bytes, other))
    }
  }

  @Test("random bytes: as many as asked for, never the same twice")
  func random() {
    #expect(SystemCrypto.randomBytes(0) == [])
    #expect(SystemCrypto.randomBytes(32) != SystemCrypto.randomBytes(32))
  }

  @Test("base64url: every length comes back; padding, other characters and unused bits are refused")
  func base64() {
    let random = seeded(7)
    for count in 0..<100 {
      let bytes = random(count)
      let text = Base64URL.encode(bytes)
      #expect(!text.contains("="))
      #expect(Base64URL.decode(text.utf8) == bytes)
    }
    #expect(Base64URL.encode([0xFB, 0xFF]) == "-_8")
    for text in ["A", "AAAAA", "AA==", "AB", "AAB", "A+", "A/", "A A", "ÄA", "A\u{0}"] {
      #expect(Base64URL.decode(text.utf8) == nil, "\(text)")
    }
  }
}
