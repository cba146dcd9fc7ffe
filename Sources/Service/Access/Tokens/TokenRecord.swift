import Tactus

/// One token as the token file stores it: all its properties except the secret.
public struct TokenRecord: Sendable, Codable, Equatable {
  /// The public identifier, 8 characters long.
  public let id: String
  /// The name for people; names need not be unique.
  public var name: String
  /// The scope that the token allows.
  public var scope: Scope
  /// The time at which the token was made, in seconds since 1970.
  public var created: Int64
  /// The time from which the token is refused, in seconds since 1970, or `nil` if it never expires.
  public var expires: Int64?
  /// The time from which the token is refused because it was revoked, in seconds since 1970, or `nil` if it was not revoked.
  public var revoked: Int64?
  /// The hash of the token's text.
  var hash: TokenHash
  /// The hash of the token's text before the last rotation, accepted before the second `previousUntil`, or `nil` if the token was never rotated.
  var previousHash: TokenHash?
  /// The time from which the secret before the last rotation is refused, in seconds since 1970, or `nil` if the token was never rotated.
  public internal(set) var previousUntil: Int64?

  /// Whether a token is accepted.
  public enum State: String, Sendable, Codable {
    /// The token is accepted.
    case valid
    /// The token's time is over.
    case expired
    /// The token has been revoked.
    case revoked
  }

  /// Returns the state of the token at a time in seconds since 1970.
  public func state(now: Int64) -> State {
    if revoked != nil { return .revoked }
    return expires.map { now >= $0 } ?? false ? .expired : .valid
  }

  /// Returns the grant of a presented token of which only the hash is known, or the reason why it is refused, in a time that does not depend on where
  /// the hashes differ.
  func decide(_ presented: TokenHash, now: Int64) -> Result<TokenGrant, TokenRefusal> {
    let isCurrent = hash.isSame(as: presented)
    let isPrevious = (previousHash ?? .nobody).isSame(as: presented)
    guard isCurrent || isPrevious, revoked == nil else { return .failure(.invalid) }
    let ends = isCurrent ? expires : min(expires ?? .max, previousUntil ?? 0)
    if Mechanism.tokenExpiry.acts, let ends, now >= ends { return .failure(.expired) }
    return .success(TokenGrant(tokenID: id, scope: scope, expires: ends))
  }
}
