import HTTPTypes
import Peers
import Tactus

/// Decides whether a request is admitted: by its Host and Origin, then by its token or its connection's certificate,
/// then by the scope that it gives.
///
/// The value is usable from any thread. Each check takes a few microseconds, a stat(2) of the token file included; the
/// file is read again when it has changed.
public struct AccessControl: Sendable {
  private let rules: HostRules
  private let tokens: any TokenVerifier
  private let isOpen: Bool
  private let tokenCommand: String
  private let seconds: @Sendable () -> Int64
  private let now: @Sendable () -> TickInstant
  private let limiter = AttemptLimiter()
  private let clients = ClientNumbers()
  private let sightings: TokenSightings
  private let certificates: ClientCertificates?

  /// Makes an access control with the given rules and tokens.
  ///
  /// - Parameters:
  ///   - isOpen: whether `service.auth` is `none`: a request without a token is treated as an admin's, and a token that
  ///     is shown is still checked. Only for a service on loopback.
  ///   - sightings: where the last use of each token is noted.
  ///   - certificates: decides the scope of clients' certificates, or `nil` if certificates give no access.
  ///   - tokenCommand: the command that makes a valid token, named in the refusal of a request without one.
  ///   - seconds: the time of day in seconds since 1970, for the expiry of tokens.
  ///   - now: the monotonic time, for counting failed attempts.
  public init(
    rules: HostRules, tokens: any TokenVerifier, isOpen: Bool = false, sightings: TokenSightings = TokenSightings(),
    certificates: ClientCertificates? = nil,
    tokenCommand: String = "tactus token create --name phone",
    seconds: @escaping @Sendable () -> Int64 = { WallClock.microseconds / 1_000_000 },
    now: @escaping @Sendable () -> TickInstant
  ) {
    self.rules = rules
    self.tokens = tokens
    self.isOpen = isOpen
    self.sightings = sightings
    self.certificates = certificates
    self.tokenCommand = tokenCommand
    self.seconds = seconds
    self.now = now
  }

  /// Decides about one request and identifies its caller.
  ///
  /// - Parameters:
  ///   - request: the head as received, with the token in `Authorization: Bearer` or, for a WebSocket, in the subprotocols.
  ///   - peer: the peer's address without its port.
  ///   - scope: the scope that the route requires, or `nil` if the route needs no token; a token that is shown must be valid all the same.
  /// - Returns: the caller. `client` is 0 if the route needs no token and the request has none.
  /// - Throws: 400 `HOST_DENIED` or `TOKEN_AMBIGUOUS`, 403 `ORIGIN_DENIED`, 401 `TOKEN_MISSING`, `TOKEN_INVALID` or
  ///   `TOKEN_EXPIRED`, 403 `SCOPE_DENIED`, 429 `TOO_MANY_ATTEMPTS`.
  public func admit(_ request: HTTPRequest, peer: String, scope: Scope?) throws(APIError) -> Caller {
    try admit(request, peer: peer, certificate: nil, scope: scope)
  }

  /// Decides about one request of a connection on which a certificate may have been shown. A token in the request takes precedence over the
  /// certificate.
  ///
  /// - Throws: the errors of `admit(_:peer:scope:)`; 403 with the code of a `CertificateRefusal`.
  func admit(
    _ request: HTTPRequest, peer: String, certificate: ClientCertificate?, scope: Scope?
  ) throws(APIError) -> Caller {
    try rules.check(request)
    let caller = try identify(request, peer: peer, certificate, mayBeNobody: scope == nil)
    if Mechanism.scopeCheck.acts, let scope, caller.scope < scope {
      throw APIError(
        .forbidden, "SCOPE_DENIED",
        "expected a token of scope \(scope.rawValue), got one of scope \(caller.scope.rawValue)")
    }
    return caller
  }

  private func identify(
    _ request: HTTPRequest, peer: String, _ certificate: ClientCertificate?, mayBeNobody: Bool
  ) throws(APIError) -> Caller {
    switch BearerToken.find(in: request.headerFields) {
    case .token(let token):
      return caller(try verify(token, peer: peer), peer: peer)
    case .ambiguous:
      throw APIError(.badRequest, "TOKEN_AMBIGUOUS", "expected one token in one place")
    case .none, .otherScheme:
      if let certificate, let certificates {
        switch certificates.grant(certificate, at: seconds(), address: peer) {
        case .success(let grant): return caller(grant, peer: peer)
        case .failure(let refusal):
          // A client without a certificate may open the page, too, and log in there with a token.
          if !mayBeNobody { throw APIError(.forbidden, refusal.code, refusal.message) }
        }
      }
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

  private func caller(_ grant: TokenGrant, peer: String) -> Caller {
    Caller(
      scope: grant.scope, tokenID: grant.tokenID, address: peer,
      client: clients.number(tokenID: grant.tokenID, address: peer), expires: grant.expires)
  }

  private func verify(_ token: String, peer: String) throws(APIError) -> TokenGrant {
    let refusal: TokenRefusal
    let time = seconds()
    switch tokens.verify(token, now: time) {
    case .success(let grant):
      sightings.note(grant.tokenID, address: peer, at: time)
      return grant
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
