import Synchronization

/// Everything that opens the door: the token file, JSON web tokens, and the one token of the environment.
///
/// Any thread. The file is looked at (one stat(2), about 1 µs) with every token and read anew when it has changed, so that
/// `tactus token revoke` works at once against a running daemon. A file that cannot be used opens nothing: neither its own
/// tokens nor, as they may be revoked in it, JSON web tokens; the environment's token goes on working.
public final class TokenStore: TokenVerifier {
  private struct Loaded {
    var identity: TokenFolder.Identity?
    var file: Result<TokenFile, TokenFileError>
    var byID: [String: TokenRecord]

    init(_ folder: TokenFolder) {
      do throws(TokenFileError) {
        let (file, identity) = try folder.readIdentified()
        self.identity = identity
        self.file = .success(file)
        byID = Dictionary(uniqueKeysWithValues: file.tokens.map { ($0.id, $0) })
      } catch {
        // Taken after the failure: a repair in between is found at the next look at the latest.
        identity = folder.identity
        file = .failure(error)
        byID = [:]
      }
    }
  }

  public static let environmentTokenID = "env"

  private let folder: TokenFolder
  private let jwtKey: [UInt8]?
  private let environmentHash: TokenHash?
  private let report: @Sendable (TokenFileError) -> Void
  private let loaded: Mutex<Loaded>
  /// What an unknown identifier is compared with, so that it takes the time of a known one.
  private static let nobody = TokenRecord(id: "", name: "", scope: .read, created: 0, hash: .nobody)

  /// - Parameters:
  ///   - path: the token file; it may be missing.
  ///   - jwtKey: the secret of HS256; nil or empty: no JSON web token is accepted.
  ///   - environmentToken: `TACTUS_TOKEN`, an admin token; nil or empty: none.
  ///   - report: told, on the caller's thread, each time the file has changed into one that cannot be used.
  /// - Throws: `AccessError` for secrets that are too short; `TokenFileError` for a file that cannot be used.
  public init(
    path: String, jwtKey: String? = nil, environmentToken: String? = nil,
    report: @escaping @Sendable (TokenFileError) -> Void = { _ in }
  ) throws {
    let key = Array((jwtKey ?? "").utf8)
    guard key.isEmpty || key.count >= JSONWebToken.leastKeyLength else { throw AccessError.shortKey(bytes: key.count) }
    self.jwtKey = key.isEmpty ? nil : key
    environmentHash = try Self.hash(ofEnvironmentToken: environmentToken ?? "")
    folder = TokenFolder(path: path)
    self.report = report
    let first = Loaded(folder)
    _ = try first.file.get()
    loaded = Mutex(first)
  }

  private static func hash(ofEnvironmentToken token: String) throws(AccessError) -> TokenHash? {
    guard !token.isEmpty else { return nil }
    guard token.utf8.count >= 16 else { throw .shortEnvironmentToken(characters: token.utf8.count) }
    guard BearerToken.isPresentable(token) else { throw .oddEnvironmentToken }
    return TokenHash(of: token)
  }

  public func verify(_ token: String, now: Int64) -> Result<TokenGrant, TokenRefusal> {
    guard token.utf8.count <= JSONWebToken.greatestLength else { return .failure(.invalid) }
    let presented = TokenHash(of: token)
    if let environmentHash, environmentHash.isSame(as: presented) {
      return .success(TokenGrant(tokenID: Self.environmentTokenID, scope: .admin, expires: nil))
    }
    let opaque = OpaqueToken(token)
    let (record, file) = newest(opaque?.identifier)
    guard let file else { return .failure(.invalid) }
    if opaque == nil, let jwtKey { return verifyJWT(token, key: jwtKey, file: file, now: now) }
    return (record ?? Self.nobody).decide(presented, now: now)
  }

  private func verifyJWT(
    _ token: String, key: [UInt8], file: TokenFile, now: Int64
  ) -> Result<TokenGrant, TokenRefusal> {
    JSONWebToken.verify(token, key: key, now: now).flatMap { token in
      if let identifier = token.identifier, file.revokedJWT.contains(identifier) { return .failure(.invalid) }
      let name = token.subject.map { "jwt:\($0)" } ?? "jwt"
      return .success(TokenGrant(tokenID: name, scope: token.scope, expires: token.expires))
    }
  }

  /// The file as it is now (nil: unusable) and the token with that identifier.
  private func newest(_ identifier: String?) -> (record: TokenRecord?, file: TokenFile?) {
    let (result, failure) = loaded.withLock { loaded in
      var failure: TokenFileError?
      if folder.identity != loaded.identity {
        loaded = Loaded(folder)
        if case .failure(let error) = loaded.file { failure = error }
      }
      return ((identifier.flatMap { loaded.byID[$0] }, try? loaded.file.get()), failure)
    }
    if let failure { report(failure) }
    return result
  }
}

/// A secret that is refused where it is configured.
public enum AccessError: Error, Sendable, Equatable, CustomStringConvertible {
  case shortKey(bytes: Int)
  case shortEnvironmentToken(characters: Int)
  case oddEnvironmentToken

  public var description: String {
    switch self {
    case .shortKey(let bytes): "service.jwt_key: expected at least \(JSONWebToken.leastKeyLength) bytes, got \(bytes)"
    case .shortEnvironmentToken(let characters): "TACTUS_TOKEN: expected at least 16 characters, got \(characters)"
    case .oddEnvironmentToken: "TACTUS_TOKEN: expected letters, digits and - . _ ~ + / = only"
    }
  }
}
