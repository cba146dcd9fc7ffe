import CCrypto
import Foundation
import HTTPTypes
import Synchronization
import Tactus

@testable import Service

/// A folder of a test's own, removed when the test lets it go.
final class AccessFolder {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.path + "/tactus-\(UUID().uuidString.prefix(13))"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var tokens: TokenFolder { TokenFolder(path: path + "/tokens.json") }

  func write(_ text: String, mode: mode_t = 0o600) throws {
    try text.write(toFile: tokens.path, atomically: false, encoding: .utf8)
    chmod(tokens.path, mode)
  }

  func mode(_ name: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path + "/" + name)[.posixPermissions] as? Int
  }
}

/// Times that a test sets.
final class SetClocks: Sendable {
  private let wall = Mutex<Int64>(1_800_000_000)
  private let monotonic = Mutex(TickInstant(nanoseconds: 5_000_000_000))

  var seconds: Int64 {
    get { wall.withLock { $0 } }
    set { wall.withLock { $0 = newValue } }
  }
  var now: TickInstant {
    get { monotonic.withLock { $0 } }
    set { monotonic.withLock { $0 = newValue } }
  }
}

/// Bytes that are the same in every run.
func seeded(_ seed: UInt64) -> (Int) -> [UInt8] {
  var generator = SplitMix64(seed: seed)
  return { count in (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) } }
}

/// A JSON web token of any content, rightly signed.
func jsonWebToken(_ claims: String, header: String = #"{"alg":"HS256","typ":"JWT"}"#, key: String) -> String {
  let signed = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
  return signed + "." + Base64URL.encode(SystemCrypto.hmacSHA256(signed.utf8, key: Array(key.utf8)))
}

func request(
  host: String? = "127.0.0.1:8000", scheme: String = "http", _ fields: [(String, String)] = []
) -> HTTPRequest {
  var request = HTTPRequest(method: .get, scheme: scheme, authority: host, path: "/api/robot")
  for (name, value) in fields { request.headerFields.append(HTTPField(name: .init(name)!, value: value)) }
  return request
}

func bearer(_ token: String) -> [(String, String)] { [("Authorization", "Bearer \(token)")] }

extension AccessControl {
  /// Lets everybody in who comes by a right name.
  init() {
    self.init(rules: try! HostRules(), tokens: NoTokens(), isOpen: true, now: { .zero })
  }
}

private struct NoTokens: TokenVerifier {
  func verify(_ token: String, now: Int64) -> Result<TokenGrant, TokenRefusal> { .failure(.invalid) }
}
