import HTTPTypes
import Tactus

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
  /// The instant at which the first byte of the request was read from its socket, on the clock of the loops, or `nil` if nothing was read. A stop
  /// makes earlier requests void (`Mailbox.send`).
  public var arrived: TickInstant?

  /// Makes a caller.
  ///
  /// - Parameter client: the number of the client, or 0 if the caller was not identified.
  public init(
    scope: Scope, tokenID: String?, address: String, client: UInt32, expires: Int64? = nil, arrived: TickInstant? = nil
  ) {
    self.scope = scope
    self.tokenID = tokenID
    self.address = address
    self.client = client
    self.expires = expires
    self.arrived = arrived
  }
}

extension Caller {
  /// Returns the part of a system that the caller's request concerns, with the instant of the request, or `nil` if nothing was read from a socket.
  public func asks(_ part: SystemPart = .whole) -> Asked? { arrived.map { Asked(part, at: $0) } }

  /// Returns the same caller with another instant of arrival.
  public func with(arrival: TickInstant) -> Caller {
    var caller = self
    caller.arrived = arrival
    return caller
  }

  /// Whether the caller is identified. With `service.auth: none` this holds for every sender of a request.
  var isKnown: Bool { client != 0 }

  /// The caller's name in the access log: the token's public identifier with the address, or the address alone if no token was needed.
  public var logName: String { tokenID.map { "\($0)@\(address)" } ?? address }
}

/// The requests that a token allows. Each scope includes the scopes before it.
public enum Scope: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
  /// Permission to read states, statistics, logs and events.
  case read
  /// Permission to send commands to every system, e-stop and reset included.
  case control
  /// Permission to change the daemon itself: the log level, its tokens, and simulated faults.
  case admin

  public static func < (one: Scope, other: Scope) -> Bool { one.rank < other.rank }

  private var rank: Int {
    switch self {
    case .read: 0
    case .control: 1
    case .admin: 2
    }
  }
}

/// The admission of something that outlasts its request, such as a WebSocket or a stream: its caller, and the token or
/// certificate, which is checked again as long as the admission lasts.
struct LastingAdmission: Sendable {
  let caller: Caller
  /// The request with the token; never logged.
  let request: HTTPRequest
  /// The certificate that was shown on the connection, or `nil` if none was.
  let certificate: ClientCertificate?
  /// The scope that is needed for as long as the admission lasts, or `nil` if no token is needed.
  var scope: Scope? = .read
  /// Whether the admission also ends when the caller's scope has changed. It is `true` for a caller that may send
  /// commands, because the scope decides which ones.
  var keepsScope = false

  /// Checks the token again. Returns the code of the error with which the same request would be refused now, `TOKEN_CHANGED` if it
  /// would be admitted with a scope that is not the caller's, or `nil` if all is as it was.
  func refusal(by admit: ServiceChannel.Admission) -> String? {
    do throws(APIError) {
      let again = try admit(request, caller.address, certificate, scope)
      return keepsScope && again.scope != caller.scope ? "TOKEN_CHANGED" : nil
    } catch {
      return error.code
    }
  }
}
