import Foundation

/// The link of a ticket, such as `http://pi.local:8000/#/ticket/…`, which a QR code of the page or of `tactus token create --qr` carries.
///
/// A ticket is exchanged once, within five minutes, for the token of a new app, so that nobody carries the token by hand.
public struct TicketLink: Equatable, Sendable, CustomStringConvertible {
  /// The address of the daemon.
  public var endpoint: Endpoint
  /// The ticket, which is as secret as the token until it is exchanged.
  public var ticket: String

  /// The daemon's address, without the ticket.
  public var description: String { "a ticket of \(endpoint)" }

  /// Parses the text of a link or a QR code. The port is 80 if the text has none, or 443 for `https://`, as for any
  /// link.
  /// - Throws: `ClientError.invalid`, without the text, since it may hold a ticket. A page below a path, such as behind a proxy, is not supported.
  public init(_ text: String) throws(ClientError) {
    let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
    let marker = "/ticket/"
    guard let parts = URLComponents(string: trimmed), let scheme = parts.scheme, ["http", "https"].contains(scheme),
      let host = parts.host, ["", "/"].contains(parts.path), parts.query == nil, parts.user == nil,
      let fragment = parts.fragment, fragment.hasPrefix(marker), fragment.count > marker.count,
      let port = UInt16(exactly: parts.port ?? (scheme == "https" ? 443 : 80))
    else {
      throw .invalid(field: "ticket", message: "expected the link of a ticket, such as http://pi.local:8000/#/ticket/…")
    }
    endpoint = Endpoint(
      host: host.trimmingCharacters(in: CharacterSet(charactersIn: "[]")), port: port, isSecure: scheme == "https")
    ticket = String(fragment.dropFirst(marker.count))
  }

  /// Exchanges the ticket. The request is sent once: if its answer is lost, the ticket is spent and another one is needed.
  /// - Parameter transport: the transport of the request, URLSession by default.
  /// - Returns: the token, to be kept in a `TokenStorage` and given to the `DaemonModel`.
  /// - Throws: `ClientError.refused` with the code `TICKET_INVALID` if the ticket was exchanged before, is too old or was revoked.
  public func exchange(by transport: (any Transport)? = nil) async throws(ClientError) -> IssuedToken {
    let caller = Caller(
      transport: transport ?? URLSessionTransport(endpoint), token: nil, clock: SystemClock(), random: SystemRandom())
    let body = try Caller.body(["ticket": ticket])
    return try await caller.call(ClientRequest("POST", "/api/ticket", body: body, kind: .act), as: IssuedToken.self)
  }
}

/// A token that a ticket was exchanged for.
public struct IssuedToken: Decodable, Equatable, Sendable, CustomStringConvertible {
  /// The token, which is secret.
  public var token: String
  /// The name of the token, such as `phone`.
  public var name: String
  /// The permission of the token: `read`, `control` or `admin`.
  public var scope: String

  /// The name and the permission, without the token.
  public var description: String { "the token \(name) of scope \(scope)" }
}
