/// The sender of a request, as far as the service knows it.
public struct Caller: Sendable, Hashable {
  /// What the token allows.
  public let scope: Scope
  /// The token's public identifier, never its secret, or `nil` if no token was needed.
  public let tokenID: String?
  /// The peer's address without its port: `192.168.1.7`.
  public let address: String
  /// The unit of "one controlling source at a time" (`ControlSource.local`): the same for all requests with one token from
  /// one address, a number of its own for each WebSocket.
  public let client: UInt32
  /// When its token ends, in seconds since 1970, or `nil` if it never does. A WebSocket is closed then.
  public let expires: Int64?

  /// - Parameter client: 0 if the caller was not identified.
  public init(scope: Scope, tokenID: String?, address: String, client: UInt32, expires: Int64? = nil) {
    self.scope = scope
    self.tokenID = tokenID
    self.address = address
    self.client = client
    self.expires = expires
  }
}

extension Caller {
  /// Whether the caller is identified, or need not be: with `service.auth: none` every sender of a request is known.
  var isKnown: Bool { client != 0 }

  /// The caller's name in the access log: the token's public name with the address.
  public var logName: String { tokenID.map { "\($0)@\(address)" } ?? address }
}
