import Synchronization

/// Everything that opens the door: the token file, JSON web tokens, and the one token of the environment.
///
/// Usable from any thread. The file is checked (one stat(2), about 1 µs) with every token and read anew when it has changed, so that
/// `tactus token revoke` works at once against a running daemon. A file that cannot be used opens nothing: neither its own
/// tokens nor, as they may be revoked in it, JSON web tokens; the environment's token goes on working. So does a file that is gone, and
/// one whose mount is missing: only where there never was a file, nothing can have been revoked.
public final class TokenStore: TokenVerifier {
  private struct Contents {
    let file: TokenFile
    let byID: [String: TokenRecord]
  }

  private struct Loaded {
    var identity: TokenFolder.Identity?
    /// Since this process began.
    var hasBeenThere: Bool
    var contents: Result<Contents, TokenFileError>

    /// - Parameter before: what was loaded until now.
    init(_ folder: TokenFolder, missing: (String) -> String?, before: Loaded? = nil) {
      do throws(TokenFileError) {
        let (file, identity) = try folder.readIdentified()
        self.identity = identity
        hasBeenThere = identity != nil || before?.hasBeenThere ?? false
        if identity == nil {
          if let reason = missing(folder.path) { throw .unreadable(path: folder.path, reason: reason) }
          if hasBeenThere { throw .unreadable(path: folder.path, reason: "it is gone; `tactus token` makes another") }
        }
        contents = .success(
          Contents(file: file, byID: Dictionary(uniqueKeysWithValues: file.tokens.map { ($0.id, $0) })))
      } catch {
        // Taken after the failure: a repair in between is found at the next look at the latest.
        identity = folder.identity
        hasBeenThere = identity != nil || before?.hasBeenThere ?? false
        contents = .failure(error)
      }
    }
  }

  /// The `tokenID` of callers with the environment's token, `TACTUS_TOKEN`.
  public static let environmentTokenID = "env"

  /// The `tokenID` of callers with the token of the present start.
  public static let localTokenID = "local"

  private let folder: TokenFolder
  private let jwtKey: [UInt8]?
  private let environmentHash: TokenHash?
  private let localHash: TokenHash?
  private let report: @Sendable (TokenFileError) -> Void
  private let missing: @Sendable (String) -> String?
  private let loaded: Mutex<Loaded>
  /// What an unknown identifier is compared with, so that it takes the time of a known one.
  private static let nobody = TokenRecord(id: "", name: "", scope: .read, created: 0, hash: .nobody)

  /// - Parameters:
  ///   - path: the token file; it may be missing.
  ///   - jwtKey: the secret of HS256; nil or empty: no JSON web token is accepted.
  ///   - environmentToken: `TACTUS_TOKEN`, an admin token; nil or empty: none.
  ///   - localToken: an admin token of this start, for commands of this account; `nil` without a local door.
  ///   - missing: why a file that is not there must exist (its mount is missing), or `nil` if it need not.
  ///   - report: called on the caller's thread each time the file has changed into one that cannot be used, and at first, too.
  /// - Throws: `AccessError` for secrets that are too short.
  public init(
    path: String, jwtKey: String? = nil, environmentToken: String? = nil, localToken: String? = nil,
    missing: @escaping @Sendable (String) -> String? = { _ in nil },
    report: @escaping @Sendable (TokenFileError) -> Void = { _ in }
  ) throws(AccessError) {
    let key = Array((jwtKey ?? "").utf8)
    guard key.isEmpty || key.count >= JSONWebToken.leastKeyLength else { throw .shortKey(bytes: key.count) }
    self.jwtKey = key.isEmpty ? nil : key
    environmentHash = try Self.hash(ofEnvironmentToken: environmentToken ?? "")
    localHash = localToken.map { TokenHash(of: $0) }
    folder = TokenFolder(path: path)
    self.report = report
    self.missing = missing
    let first = Loaded(folder, missing: missing)
    loaded = Mutex(first)
    if let failure = first.contents.failure { report(failure) }
  }

  /// Why the file's tokens and JSON web tokens are refused now, or `nil` if they are not. Takes as long as the check of a token.
  public var failure: TokenFileError? { newest().failure }

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
    if let localHash, localHash.isSame(as: presented) {
      return .success(TokenGrant(tokenID: Self.localTokenID, scope: .admin, expires: nil))
    }
    let opaque = OpaqueToken(token)
    guard case .success(let file) = newest() else { return .failure(.invalid) }
    let record = opaque.flatMap { file.byID[$0.identifier] }
    if opaque == nil, let jwtKey { return verifyJWT(token, key: jwtKey, file: file.file, now: now) }
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

  /// The file as it is now, or why it is unusable.
  private func newest() -> Result<Contents, TokenFileError> {
    let (contents, failure) = loaded.withLock { loaded in
      var failure: TokenFileError?
      let identity = folder.identity
      // While it is missing, whether it should be there is asked anew: mounts come and go without it.
      let isMissing = if case .failure = loaded.contents { identity == nil } else { false }
      if identity != loaded.identity || isMissing {
        let before = loaded.contents.failure
        loaded = Loaded(folder, missing: missing, before: loaded)
        if let now = loaded.contents.failure, now != before { failure = now }
      }
      return (loaded.contents, failure)
    }
    if let failure { report(failure) }
    return contents
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}

/// A secret that is refused where it is configured.
public enum AccessError: Error, Sendable, Equatable, CustomStringConvertible {
  /// `service.jwt_key` has fewer than the 32 bytes that HS256 needs.
  case shortKey(bytes: Int)
  /// `TACTUS_TOKEN` has fewer than 16 characters, counted as UTF-8 bytes.
  case shortEnvironmentToken(characters: Int)
  /// `TACTUS_TOKEN` has a character that `Authorization: Bearer` cannot carry (RFC 6750).
  case oddEnvironmentToken

  public var description: String {
    switch self {
    case .shortKey(let bytes): "service.jwt_key: expected at least \(JSONWebToken.leastKeyLength) bytes, got \(bytes)"
    case .shortEnvironmentToken(let characters): "TACTUS_TOKEN: expected at least 16 characters, got \(characters)"
    case .oddEnvironmentToken: "TACTUS_TOKEN: expected letters, digits and - . _ ~ + / = only"
    }
  }
}
