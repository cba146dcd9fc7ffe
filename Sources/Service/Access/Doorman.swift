import HTTPTypes
import Peers
import Tactus

/// Decides whether a request is let in: by Host and Origin, then the token, then its scope.
///
/// Usable from any thread. Takes a few microseconds, a stat(2) of the token file included, and reads that file when it has changed.
public struct Doorman: Sendable {
  private let rules: HostRules
  private let tokens: any TokenVerifier
  private let isOpen: Bool
  private let tokenCommand: String
  private let seconds: @Sendable () -> Int64
  private let now: @Sendable () -> TickInstant
  private let limiter = AttemptLimiter()
  private let clients = ClientNumbers()

  /// - Parameters:
  ///   - isOpen: `service.auth: none`: a request without a token is an admin's; a shown token is checked all the same. Only for a service
  ///     on loopback.
  ///   - tokenCommand: the command that makes a valid token, named in the refusal of a request without one.
  ///   - seconds: the time of day in seconds since 1970, for the expiry of tokens.
  ///   - now: monotonic, for counting failed attempts.
  public init(
    rules: HostRules, tokens: any TokenVerifier, isOpen: Bool = false,
    tokenCommand: String = "tactus token create --name phone",
    seconds: @escaping @Sendable () -> Int64 = { WallClock.microseconds / 1_000_000 },
    now: @escaping @Sendable () -> TickInstant
  ) {
    self.rules = rules
    self.tokens = tokens
    self.isOpen = isOpen
    self.tokenCommand = tokenCommand
    self.seconds = seconds
    self.now = now
  }

  /// - Parameters:
  ///   - request: the head as received; a token in `Authorization: Bearer`, or for a WebSocket in its subprotocols.
  ///   - peer: the peer's address without its port.
  ///   - scope: what the route asks for, or `nil` if it needs no token, but a token that is shown must be valid.
  /// - Returns: the caller; `client` is 0 if the route needs no token and none was shown.
  /// - Throws: 400 `HOST_DENIED` or `TOKEN_AMBIGUOUS`, 403 `ORIGIN_DENIED`, 401 `TOKEN_MISSING`, `TOKEN_INVALID` or
  ///   `TOKEN_EXPIRED`, 403 `SCOPE_DENIED`, 429 `TOO_MANY_ATTEMPTS`.
  public func admit(_ request: HTTPRequest, peer: String, scope: Scope?) throws(APIError) -> Caller {
    try rules.check(request)
    let caller = try identify(request, peer: peer, mayBeNobody: scope == nil)
    if Mechanism.scopeCheck.acts, let scope, caller.scope < scope {
      throw APIError(
        .forbidden, "SCOPE_DENIED",
        "expected a token of scope \(scope.rawValue), got one of scope \(caller.scope.rawValue)")
    }
    return caller
  }

  private func identify(_ request: HTTPRequest, peer: String, mayBeNobody: Bool) throws(APIError) -> Caller {
    switch BearerToken.find(in: request.headerFields) {
    case .token(let token):
      let grant = try verify(token, peer: peer)
      return Caller(
        scope: grant.scope, tokenID: grant.tokenID, address: peer,
        client: clients.number(tokenID: grant.tokenID, address: peer), expires: grant.expires)
    case .ambiguous:
      throw APIError(.badRequest, "TOKEN_AMBIGUOUS", "expected one token in one place")
    case .none, .otherScheme:
      if isOpen {
        return Caller(
          scope: .admin, tokenID: nil, address: peer, client: clients.number(tokenID: nil, address: peer))
      }
      if mayBeNobody { return Caller(scope: .read, tokenID: nil, address: peer, client: 0) }
      throw APIError(
        .unauthorized, "TOKEN_MISSING",
        "expected a token, as Authorization: Bearer TOKEN; on the daemon's machine `\(tokenCommand)` makes one",
        headers: [.wwwAuthenticate: #"Bearer realm="tactus""#])
    }
  }

  private func verify(_ token: String, peer: String) throws(APIError) -> TokenGrant {
    let refusal: TokenRefusal
    switch tokens.verify(token, now: seconds()) {
    case .success(let grant): return grant
    case .failure(let reason): refusal = reason
    }
    if let wait = limiter.fail(peer, at: now()) {
      throw APIError(
        .tooManyRequests, "TOO_MANY_ATTEMPTS",
        "too many wrong tokens from this address; the next is looked at in \(wait) s",
        headers: [.retryAfter: String(wait)])
    }
    let headers: HTTPFields = [.wwwAuthenticate: #"Bearer realm="tactus", error="invalid_token""#]
    let wayOut = "; on the daemon's machine `\(tokenCommand)` makes one"
    switch refusal {
    case .invalid:
      throw APIError(.unauthorized, "TOKEN_INVALID", "the token is not valid here" + wayOut, headers: headers)
    case .expired: throw APIError(.unauthorized, "TOKEN_EXPIRED", "the token has expired" + wayOut, headers: headers)
    case .lastsTooLong:
      throw APIError(
        .unauthorized, "TOKEN_INVALID",
        "exp: expected an end at most \(JSONWebToken.greatestLifetimeDays) days from now, got a later one",
        headers: headers)
    }
  }
}
