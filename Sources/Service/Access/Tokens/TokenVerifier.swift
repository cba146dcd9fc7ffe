/// Decides about a presented token. It may be used from any thread; blocks for no longer than a file read.
public protocol TokenVerifier: Sendable {
  /// Decides about one token.
  ///
  /// - Parameter now: the present time in seconds since 1970.
  func verify(_ token: String, now: Int64) -> Result<TokenGrant, TokenRefusal>
}

/// The identity and the rights of a valid token.
public struct TokenGrant: Sendable, Hashable {
  /// The public name for the log, never the secret: the ID of a token record, `jwt`, `jwt:SUBJECT`, `env` or `local`.
  public let tokenID: String
  /// The scope that the token allows.
  public let scope: Scope
  /// The time at which the token expires, in seconds since 1970, or `nil` if it never does. A WebSocket is closed at that time.
  public let expires: Int64?

  /// Makes the grant of a valid token.
  ///
  /// - Parameter expires: the expiry in seconds since 1970, or `nil` if the token never expires.
  public init(tokenID: String, scope: Scope, expires: Int64?) {
    self.tokenID = tokenID
    self.scope = scope
    self.expires = expires
  }
}

/// The reason why a presented token is refused.
public enum TokenRefusal: Error, Sendable, Hashable {
  /// The token is unknown, malformed, wrongly signed or revoked. The answer does not say which.
  case invalid
  /// The token is genuine but has expired, or its secret was rotated and the grace period is over.
  case expired
  /// The JSON web token has a valid signature but a longer validity than is accepted.
  case lastsTooLong
}
