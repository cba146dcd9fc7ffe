import Tactus

/// One token as the token file keeps it: everything but its secret.
public struct TokenRecord: Sendable, Codable, Equatable {
  /// 8 characters; public.
  public let id: String
  /// For people; not unique.
  public var name: String
  /// What the token allows.
  public var scope: Scope
  /// Seconds since 1970, as all times here.
  public var created: Int64
  /// The second from which on the token is refused, or `nil` if it never is.
  public var expires: Int64?
  /// When it was revoked; from then on it is refused.
  public var revoked: Int64?
  /// Of the token's text.
  var hash: TokenHash
  /// The same of the secret before the last rotation, accepted before the second `previousUntil`.
  var previousHash: TokenHash?
  /// From this second on the secret before the last rotation is refused, or `nil` if the token was never rotated.
  public internal(set) var previousUntil: Int64?

  /// Decides about a presented token of which only the hash is known. Takes the same time whatever differs.
  func decide(_ presented: TokenHash, now: Int64) -> Result<TokenGrant, TokenRefusal> {
    let isCurrent = hash.isSame(as: presented)
    let isPrevious = (previousHash ?? .nobody).isSame(as: presented)
    guard isCurrent || isPrevious, revoked == nil else { return .failure(.invalid) }
    let ends = isCurrent ? expires : min(expires ?? .max, previousUntil ?? 0)
    if Mechanism.tokenExpiry.acts, let ends, now >= ends { return .failure(.expired) }
    return .success(TokenGrant(tokenID: id, scope: scope, expires: ends))
  }
}
