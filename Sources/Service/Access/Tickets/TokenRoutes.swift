@_spi(FromOutside) import Conversions
import HTTPTypes
import Tactus
import WallTime
import Wire

/// The routes `/api/tokens` and `/api/ticket`: the tokens of the token file and the tickets by which new clients get theirs.
public struct TokenRoutes: Sendable {
  private let store: TokenStore
  private let sightings: TokenSightings
  private let revoked: @Sendable () -> Void
  private let seconds: @Sendable () -> Int64
  private let now: @Sendable () -> TickInstant
  private let tickets: TokenTickets

  /// The longest and the shortest time for which a token can be made, in seconds: a hundred years and a minute.
  private static let lifetimes = 60...3_155_760_000
  /// The part of a ticket's address that follows the address of the page.
  private static let ticketPath = "#/ticket/"
  /// The greatest length of the page's address, so that the ticket's address fits into a QR code: a ticket has 22 characters.
  private static let greatestPageLength = QRCode.greatestLength - ticketPath.utf8.count - 22

  /// Makes the routes of one token file.
  ///
  /// - Parameters:
  ///   - store: the tokens.
  ///   - sightings: the last use of each token.
  ///   - revoked: called when a token was revoked, so that WebSockets and streams of the token are ended at once.
  ///   - seconds: the time of day in seconds since 1970.
  ///   - now: the monotonic time, for tickets.
  public init(
    store: TokenStore, sightings: TokenSightings, revoked: @escaping @Sendable () -> Void,
    seconds: @escaping @Sendable () -> Int64 = { WallClock.microseconds / 1_000_000 },
    now: @escaping @Sendable () -> TickInstant
  ) {
    (self.store, self.sightings, self.revoked) = (store, sightings, revoked)
    (self.seconds, self.now) = (seconds, now)
    tickets = TokenTickets()
  }

  /// All routes need the scope `admin`, except `POST /api/ticket`, which a client without a token asks.
  public var routes: [Route] {
    var ticket = Route(.post, "/api/ticket", scope: nil, action: "tokens.ticket") { try exchange($0) }.waitingForDisk()
    // Any client may send a ticket.
    (ticket.fileLimit, ticket.fileType) = (256, "application/json")
    return [
      Route(.get, "/api/tokens", scope: .admin) { try list($0) }.waitingForDisk(),
      Route(.post, "/api/tokens", scope: .admin, action: "tokens.create") { try create($0) }.waitingForDisk(),
      Route(.delete, "/api/tokens/{name}", scope: .admin, action: "tokens.revoke") { try revoke($0) }.waitingForDisk(),
      ticket,
    ]
  }

  // MARK: documents

  private struct Client: Encodable {
    let id: String
    let name: String
    let scope: Scope
    let state: TokenRecord.State
    let createdISO: String
    @OrNull var expiresISO: String?
    @OrNull var revokedISO: String?
    @OrNull var seenISO: String?
    @OrNull var seenAddress: String?
    let isOwn: Bool
  }

  private func client(_ token: TokenRecord, _ caller: Caller, now: Int64) -> Client {
    func text(_ seconds: Int64) -> String { WallTimeText.text(WallInstant(secondsSince1970: seconds)) }
    let seen = sightings.last(token.id)
    return Client(
      id: token.id, name: token.name, scope: token.scope, state: token.state(now: now),
      createdISO: text(token.created), expiresISO: token.expires.map(text), revokedISO: token.revoked.map(text),
      seenISO: seen.map { text($0.seconds) }, seenAddress: seen?.address, isOwn: token.id == caller.tokenID)
  }

  private struct List: Encodable {
    let ok = true
    let tokens: [Client]
    let most: Int
  }

  private struct Created: Encodable {
    let ok = true
    let client: Client
    let token: String
    @OrNull var ticket: Ticket?
  }

  private struct Ticket: Codable {
    let address: String
    let seconds: Int64
    /// The rows of the QR code of the address, `1` for a dark module.
    let picture: [String]
  }

  private struct Revoked: Encodable {
    let ok = true
    let client: Client
  }

  private struct Exchanged: Encodable {
    let ok = true
    let token: String
    let name: String
    let scope: Scope
  }

  // MARK: requests

  private func list(_ request: APIRequest) throws(APIError) -> APIResponse {
    let time = seconds()
    let file = try orRefuse { () throws(TokenFileError) in try store.usableFile() }
    return .json(
      List(tokens: file.tokens.map { client($0, request.caller, now: time) }, most: TokenFile.greatestCount))
  }

  private struct Wish: JSONReadable {
    let name: String
    let scope: Scope
    let validSeconds: Int?
    let page: String?

    init(_ body: inout JSONReader) throws(APIError) {
      name = try body.required("name", .name(TokenFile.nameLength, expected: TokenFile.nameRule))
      if let space = GivenName.misplacedSpace(in: name) {
        throw .validation("name", expected: GivenName.spaceRule, got: space)
      }
      scope = try body.optional("scope", .choice(Scope.allCases.map(\.rawValue))).flatMap(Scope.init) ?? .control
      validSeconds = try body.optional("validSeconds", .integer(TokenRoutes.lifetimes))
      page = try body.optional("page", TokenRoutes.pageKind)
    }
  }

  /// An address of the page, to which a ticket is appended.
  private static var pageKind: JSONKind<String> {
    JSONKind(PageAddress.rule(atMost: greatestPageLength)) { value in
      value.string.flatMap { PageAddress.isOne($0, atMost: greatestPageLength) ? $0 : nil }
    }
  }

  private func create(_ request: APIRequest) throws(APIError) -> APIResponse {
    let wish = try request.decode(Wish.self)
    let time = seconds()
    let (record, text) = try orRefuse { () throws(TokenFileError) in
      try store.change { file throws(TokenFileError) in
        try file.checkIsNew(name: wish.name, now: time)
        try file.makeRoom(now: time)
        return file.create(
          name: wish.name, scope: wish.scope, expires: wish.validSeconds.map { time + Int64($0) }, now: time)
      }
    }
    let ticket = wish.page.flatMap { page -> Ticket? in
      let address = page + Self.ticketPath + tickets.issue(for: text, tokenID: record.id, at: now())
      guard let code = QRCode(of: address) else { preconditionFailure("the page's address is bounded") }
      return Ticket(
        address: address, seconds: TokenTickets.lifetimeSeconds,
        picture: code.modules.map { String($0.map { $0 ? "1" : "0" }) })
    }
    let document = Created(client: client(record, request.caller, now: time), token: text, ticket: ticket)
    return audited(.json(document, status: .created), record, by: request.caller)
  }

  private func revoke(_ request: APIRequest) throws(APIError) -> APIResponse {
    let query = try QueryReader(request.query, names: ["lastAdmin"])
    let mayBeLast = try query.word("lastAdmin", among: ["true", "false"]) == "true"
    let time = seconds()
    let record = try orRefuse { () throws(TokenFileError) in
      try store.change { file throws(TokenFileError) in
        let id = try file.identifier(of: request.parameters["name"] ?? "", now: time)
        if !mayBeLast, file.isLastAdmin(id, now: time) { throw .lastAdmin(id) }
        try file.revoke(id, now: time)
        guard let record = file.tokens.first(where: { $0.id == id }) else { throw .unknownToken(id) }
        return record
      }
    }
    tickets.end(tokenID: record.id)
    revoked()
    return audited(.json(Revoked(client: client(record, request.caller, now: time))), record, by: request.caller)
  }

  private func exchange(_ request: APIRequest) throws(APIError) -> APIResponse {
    struct Presented: JSONReadable {
      let ticket: String

      init(_ body: inout JSONReader) throws(APIError) { ticket = try body.required("ticket", .text(1...64)) }
    }
    let presented = try request.decode(Presented.self).ticket
    let file = try orRefuse { () throws(TokenFileError) in try store.usableFile() }
    // A token that was revoked in the terminal meanwhile gives no access.
    guard let (tokenID, token) = tickets.exchange(presented, at: now()),
      let record = file.tokens.first(where: { $0.id == tokenID }), record.state(now: seconds()) == .valid
    else {
      throw APIError(
        .notFound, "TICKET_INVALID",
        "the ticket is not valid: it is good once, within 5 minutes, and not once its token is revoked; ask for another"
      )
    }
    return audited(.json(Exchanged(token: token, name: record.name, scope: record.scope)), record, by: request.caller)
  }

  // MARK: answers

  /// Returns the response with the token and the caller's name in the log line of its action, never the secret.
  private func audited(_ response: APIResponse, _ record: TokenRecord, by caller: Caller) -> APIResponse {
    var response = response
    response.logValue = "\(record.id) \(record.scope.rawValue)"
    response.logFields["name"] = record.name
    response.logFields["by"] = callerName(caller)
    return response
  }

  /// Returns the name of the caller's token, or the public identifier of a token that is not in the file.
  private func callerName(_ caller: Caller) -> String {
    guard let id = caller.tokenID else { return "no token" }
    return store.record(id)?.name ?? id
  }

  private func orRefuse<Result>(_ body: () throws(TokenFileError) -> Result) throws(APIError) -> Result {
    do throws(TokenFileError) {
      return try body()
    } catch {
      switch error {
      case .unknownToken(let text):
        throw .notFound(
          "\(JSONValue.shortened(text)): expected the ID or the name of a token; GET /api/tokens lists them")
      case .ambiguousName: throw .conflict("NAME_AMBIGUOUS", "\(error)")
      case .nameTaken: throw .conflict("NAME_TAKEN", "\(error)")
      case .full: throw .conflict("TOKENS_FULL", "\(error)")
      case .busy: throw .conflict("BUSY", "another program is changing the token file; try again")
      case .lastAdmin(let id):
        throw .conflict(
          "LAST_ADMIN",
          "\(error); without it only `tactus token create` on the daemon's machine makes another. To revoke it all the same: "
            + "DELETE /api/tokens/\(id)?lastAdmin=true")
      case .unreadable, .unwritable, .exposed, .damaged, .revokedToken:
        throw APIError(.serviceUnavailable, "TOKENS_FAILED", "the token file cannot be used: \(error)")
      }
    }
  }
}
