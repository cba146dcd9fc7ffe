/// Decides about a presented token. Callable from any thread; never blocks for longer than a file read.
public protocol TokenVerifier: Sendable {
  /// - Parameter now: seconds since 1970.
  func verify(_ token: String, now: Int64) -> Result<TokenGrant, TokenRefusal>
}

/// What a valid token stands for.
public struct TokenGrant: Sendable, Hashable {
  /// Public name for the log, never the secret: the ID of a record, `jwt` or `jwt:SUBJECT`, or `env`.
  public let tokenID: String
  /// What the token allows.
  public let scope: Scope
  /// When the token ends, in seconds since 1970, or `nil` if it never does. A WebSocket is closed then.
  public let expires: Int64?

  /// - Parameter expires: seconds since 1970, or `nil` if the token never expires.
  public init(tokenID: String, scope: Scope, expires: Int64?) {
    self.tokenID = tokenID
    self.scope = scope
    self.expires = expires
  }
}

/// Why a presented token is refused.
public enum TokenRefusal: Error, Sendable, Hashable {
  /// The token is unknown, malformed, wrongly signed or revoked. The answer does not say which.
  case invalid
  /// Genuine and past its end, or a rotated secret past its grace period.
  case expired
  /// Rightly signed, for longer than a JSON web token may last.
  case lastsTooLong
}
