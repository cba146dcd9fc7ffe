/// The sender of a request, as far as the service knows it.
public struct Caller: Sendable, Hashable {
  /// The scope that the caller's token allows.
  public let scope: Scope
  /// The token's public identifier, never its secret, or `nil` if no token was needed.
  public let tokenID: String?
  /// The peer's address without its port: `192.168.1.7`.
  public let address: String
  /// The number by which commands tell controlling sources apart (`ControlSource.local`): all requests with one token
  /// from one address share a number; each WebSocket has a number to itself.
  public let client: UInt32
  /// The time at which the caller's token expires, in seconds since 1970, or `nil` if it never does. A WebSocket is closed at that time.
  public let expires: Int64?

  /// Makes a caller.
  ///
  /// - Parameter client: the number of the client, or 0 if the caller was not identified.
  public init(scope: Scope, tokenID: String?, address: String, client: UInt32, expires: Int64? = nil) {
    self.scope = scope
    self.tokenID = tokenID
    self.address = address
    self.client = client
    self.expires = expires
  }
}

extension Caller {
  /// Whether the caller is identified. With `service.auth: none` this holds for every sender of a request.
  var isKnown: Bool { client != 0 }

  /// The caller's name in the access log: the token's public identifier with the address, or the address alone if no token was needed.
  public var logName: String { tokenID.map { "\($0)@\(address)" } ?? address }
}
