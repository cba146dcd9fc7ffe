import Synchronization

/// All secrets that give access to the service: the token file, JSON web tokens, the token of the environment and the token of the present start.
///
/// A store is usable from any thread. The file is checked with one stat(2) (about 1 µs) for every token and read again
/// when it has changed, so `tactus token revoke` takes effect at once in a running daemon. While the file cannot be
/// used, neither its tokens nor JSON web tokens are accepted, because they may be revoked in it; the environment's
/// token still works. A file that has disappeared or whose mount is missing counts as unusable; only if no file ever
/// existed can no token have been revoked.
public final class TokenStore: TokenVerifier {
  private struct Contents {
    let file: TokenFile
    let byID: [String: TokenRecord]
  }

  private struct Loaded {
    var identity: TokenFolder.Identity?
    /// Whether the file has existed at any time since this process started.
    var hasBeenThere: Bool
    var contents: Result<Contents, TokenFileError>

    /// Reads the token file.
    ///
    /// - Parameter before: the contents loaded so far, or `nil` at the first load.
    init(_ folder: TokenFolder, missing: (String) -> String?, before: Loaded? = nil) {
      // The identity is taken first, so that a change while the file is read shows as another identity at the next check.
      let found = folder.identity
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
        identity = found
        hasBeenThere = identity != nil || before?.hasBeenThere ?? false
        contents = .failure(error)
      }
    }
  }

  /// The `tokenID` of callers with the environment's token, `TACTUS_TOKEN`.
  public static let environmentTokenID = "env"

  /// The `tokenID` of callers with the admin token that the daemon makes at each start.
  public static let localTokenID = "local"

  private let folder: TokenFolder
  private let jwtKey: [UInt8]?
  private let environmentHash: TokenHash?
  private let localHash: TokenHash?
  private let report: @Sendable (TokenFileError) -> Void
  private let missing: @Sendable (String) -> String?
  private let loaded: Mutex<Loaded>
  /// The record against which an unknown identifier is compared, so that unknown and known identifiers take the same time.
  private static let nobody = TokenRecord(id: "", name: "", scope: .read, created: 0, hash: .nobody)

  /// Makes a store and reads the token file.
  ///
  /// - Parameters:
  ///   - path: path of the token file, which may be missing.
  ///   - jwtKey: the secret of HS256; if it is `nil` or empty, no JSON web token is accepted.
  ///   - environmentToken: the admin token of `TACTUS_TOKEN`; if it is `nil` or empty, there is no such token.
  ///   - localToken: the admin token of this start, for commands of the same user account, or `nil` if the daemon has no local socket.
  ///   - missing: returns why a missing file must exist (its mount is missing), or `nil` if the file need not exist.
  ///   - report: called on the caller's thread each time the file has become unusable, including at the start.
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

  /// The reason why the file's tokens and JSON web tokens are refused now, or `nil` if they are accepted. Takes as long as the check of a token.
  public var failure: TokenFileError? { newest().failure }

  /// Returns the present contents of the token file.
  ///
  /// - Throws: why the file's tokens are refused now.
  func usableFile() throws(TokenFileError) -> TokenFile { try newest().get().file }

  /// Returns the record of a token of the file, or `nil` if the file has none or cannot be used.
  func record(_ id: String) -> TokenRecord? { try? newest().get().byID[id] }

  /// Changes the token file and returns the result of `body`. Waits for the disk, but for no other program.
  ///
  /// - Throws: the reason why the file cannot be used, `busy` while another program is changing it, or the error of `body`.
  func change<Result>(
    _ body: (inout TokenFile) throws(TokenFileError) -> Result
  ) throws(TokenFileError) -> Result {
    _ = try usableFile()
    return try folder.change(waits: false, body)
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

  /// Returns the present contents of the file, or the reason why the file is unusable.
  private func newest() -> Result<Contents, TokenFileError> {
    let (contents, failure) = loaded.withLock { loaded in
      var failure: TokenFileError?
      let identity = folder.identity
      // While the file is missing, its mounts are checked again, since they come and go without it.
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

/// The error for a configured secret that is not acceptable.
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
