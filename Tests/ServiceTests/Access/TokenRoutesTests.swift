import Foundation
import HTTPTypes
import ServiceSupport
import Synchronization
import Tactus
import TestSupport
import Testing

@testable import Service

@Suite("token routes", .ownThread)
struct TokenRoutesTests {
  private let folder: AccessFolder
  private let clocks = SetClocks()
  private let store: TokenStore
  private let sightings = TokenSightings()
  private let checks = Counter()
  private let routes: [Route]

  private final class Counter: Sendable {
    let count = Mutex(0)
  }

  init() throws {
    folder = try AccessFolder()
    store = try TokenStore(path: folder.tokens.path)
    let (clocks, checks) = (clocks, checks)
    routes =
      TokenRoutes(
        store: store, sightings: sightings, revoked: { checks.count.withLock { $0 += 1 } },
        seconds: { clocks.seconds }, now: { clocks.now }
      ).routes
  }

  private func ask(
    _ method: HTTPRequest.Method, _ path: String, query: [String: String] = [:], body: String = "",
    by tokenID: String? = nil
  ) async throws -> APIResponse {
    let parts = path.split(separator: "/").map(String.init)
    let isOne = parts.count == 3
    let route = try #require(
      routes.first { $0.method == method && $0.path == (isOne ? "/api/tokens/{name}" : path) })
    guard case .handler(let handle) = route.handling else { preconditionFailure("a prepared document") }
    let caller = Caller(scope: .admin, tokenID: tokenID, address: "192.0.2.1", client: 1)
    return try await handle(
      APIRequest(
        caller: caller, parameters: isOne ? ["name": parts[2]] : [:], query: query, body: Array(body.utf8)))
  }

  private func refusal(
    _ method: HTTPRequest.Method, _ path: String, query: [String: String] = [:], body: String = ""
  ) async throws -> APIError {
    try await #require(throws: APIError.self) { try await ask(method, path, query: query, body: body) }
  }

  private struct Made {
    let id: String
    let token: String
    let ticket: [String: Any]?
    let response: APIResponse
  }

  private func create(_ body: String) async throws -> Made {
    let response = try await ask(.post, "/api/tokens", body: body)
    let object = try response.object()
    let client = try #require(object["client"] as? [String: Any])
    return Made(
      id: try #require(client["id"] as? String), token: try #require(object["token"] as? String),
      ticket: object["ticket"] as? [String: Any], response: response)
  }

  private func exchange(_ ticket: String) async throws -> String? {
    try await ask(.post, "/api/ticket", body: #"{"ticket":"\#(ticket)"}"#).object()["token"] as? String
  }

  private func code(_ made: Made) throws -> String {
    let address = try #require(made.ticket?["address"] as? String)
    return String(try #require(address.split(separator: "/").last))
  }

  private func verify(_ token: String) -> Result<TokenGrant, TokenRefusal> { store.verify(token, now: clocks.seconds) }

  // MARK: making and seeing

  @Test("create: the token is accepted at once; its text is in the answer and in no log line, list or file")
  func create() async throws {
    let made = try await create(#"{"name":"Anna's phone","scope":"read","validSeconds":60}"#)
    #expect(made.response.status == .created && made.ticket == nil)
    #expect(
      verify(made.token)
        == .success(TokenGrant(tokenID: made.id, scope: .read, expires: clocks.seconds + 60)))
    #expect(made.response.logValue == "\(made.id) read")
    #expect(made.response.logFields == ["name": "Anna's phone", "by": "no token"])
    let list = String(decoding: try await ask(.get, "/api/tokens").body, as: UTF8.self)
    let file = try String(contentsOfFile: folder.tokens.path, encoding: .utf8)
    let hash = TokenHash(of: made.token)
    let digits = String(decoding: try JSONEncoder().encode(hash), as: UTF8.self).replacing("\"", with: "")
    #expect(file.contains(digits) && !list.contains(digits), "the list has no hash")
    for text in [list, file] { #expect(!text.contains(made.token.suffix(43)) && text.contains(made.id)) }
  }

  @Test("list: state, times, and the last use with its address; the caller's own is marked")
  func list() async throws {
    let first = try await create(#"{"name":"first","scope":"admin"}"#)
    let second = try await create(#"{"name":"second","validSeconds":60}"#)
    sightings.note(second.id, address: "192.0.2.7", at: clocks.seconds)
    clocks.seconds += 60
    let object = try await ask(.get, "/api/tokens", by: first.id).object()
    let tokens = try #require(object["tokens"] as? [[String: Any]])
    #expect(tokens.map { $0["name"] as? String } == ["first", "second"])
    #expect(tokens.map { $0["state"] as? String } == ["valid", "expired"])
    #expect(tokens.map { $0["scope"] as? String } == ["admin", "control"], "control unless another is asked for")
    #expect(tokens.map { $0["isOwn"] as? Bool } == [true, false])
    #expect(tokens.map { $0["expiresISO"] as? String } == [nil, "2027-01-15T08:01:00Z"])
    #expect(tokens.map { $0["seenISO"] as? String } == [nil, "2027-01-15T08:00:00Z"])
    #expect(tokens.map { $0["seenAddress"] as? String } == [nil, "192.0.2.7"])
    #expect(object["most"] as? Int == 256)
  }

  @Test(
    "create with a bad member: 422 that names it, and nothing is made",
    arguments: [
      ("{}", "name"), (#"{"name":""}"#, "name"), (#"{"name":"  "}"#, "name"), (#"{"name":"a\u0007"}"#, "name"),
      (#"{"name":"\#(String(repeating: "a", count: 65))"}"#, "name"),
      (#"{"name":"\#(String(repeating: "e\u{301}\u{302}\u{303}", count: 60))"}"#, "name"),
      (#"{"name":" a"}"#, "name"), (#"{"name":"a "}"#, "name"), (#"{"name":"a  b"}"#, "name"),
      ("{\"name\":\"a\u{202E}b\"}", "name"), ("{\"name\":\"\u{FEFF}a\"}", "name"),
      (#"{"name":"a","scope":"king"}"#, "scope"), (#"{"name":"a","validSeconds":59}"#, "validSeconds"),
      (#"{"name":"a","validSeconds":3155760001}"#, "validSeconds"),
      (#"{"name":"a","validSeconds":1e300}"#, "validSeconds"),
      (#"{"name":"a","page":"ftp://pi/"}"#, "page"), (#"{"name":"a","page":"http://pi"}"#, "page"),
      (#"{"name":"a","page":"http://u:p@pi/"}"#, "page"), (#"{"name":"a","page":"http://pi/#/"}"#, "page"),
      (#"{"name":"a","page":"http://pi/\#(String(repeating: "a", count: 139))/"}"#, "page"),
      (#"{"name":"a","id":"aaaaaaaa"}"#, "id"),
    ])
  func badMember(body: String, field: String) async throws {
    let error = try await refusal(.post, "/api/tokens", body: body)
    #expect(error.status == .unprocessableContent && error.field == field, "\(error.message)")
    #expect(try folder.tokens.read().tokens.isEmpty)
  }

  @Test("a second valid token of one name: 409; of one that was revoked: made")
  func nameTaken() async throws {
    let made = try await create(#"{"name":"phone"}"#)
    #expect(try await refusal(.post, "/api/tokens", body: #"{"name":"phone"}"#).code == "NAME_TAKEN")
    _ = try await ask(.delete, "/api/tokens/\(made.id)")
    _ = try await create(#"{"name":"phone"}"#)
  }

  @Test("a name that an old token has with a space at its end: 409")
  func nameWithSpaceTaken() async throws {
    let old = try folder.tokens.change { file throws(TokenFileError) in
      file.create(name: "me ", scope: .read, expires: nil, now: clocks.seconds).record
    }
    #expect(try await refusal(.post, "/api/tokens", body: #"{"name":"me"}"#).code == "NAME_TAKEN")
    _ = try await ask(.delete, "/api/tokens/\(old.id)")
    _ = try await create(#"{"name":"me"}"#)
  }

  @Test("a full file: the revoked are forgotten first, then the expired; when all are valid: 409")
  func full() async throws {
    try folder.tokens.change { file throws(TokenFileError) in
      for number in 0..<TokenFile.greatestCount {
        let expires = number == 0 ? clocks.seconds - 1 : nil
        _ = file.create(name: "\(number)", scope: .read, expires: expires, now: 1)
      }
      try file.revoke(file.tokens[7].id, now: 1)
    }
    for (name, gone) in [("a", "7"), ("b", "0")] {
      _ = try await create(#"{"name":"\#(name)"}"#)
      let names = try folder.tokens.read().tokens.map(\.name)
      #expect(names.count == TokenFile.greatestCount && !names.contains(gone) && names.last == name)
    }
    let error = try await refusal(.post, "/api/tokens", body: #"{"name":"c"}"#)
    #expect(error.status == .conflict && error.code == "TOKENS_FULL")
  }

  @Test("another program is changing the file: 409 at once, not a thread that waits for it")
  func busy() async throws {
    let lock = open(folder.tokens.path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(lock) }
    try #require(flock(lock, LOCK_EX) == 0)
    #expect(try await refusal(.post, "/api/tokens", body: #"{"name":"a"}"#).code == "BUSY")
  }

  @Test("a damaged file: 503 for each route, and it stays as it is")
  func damaged() async throws {
    try folder.write("oops")
    for (method, path, body) in [
      (.get, "/api/tokens", ""), (.post, "/api/tokens", #"{"name":"a"}"#), (.delete, "/api/tokens/aaaaaaaa", ""),
      (.post, "/api/ticket", #"{"ticket":"a"}"#),
    ] as [(HTTPRequest.Method, String, String)] {
      let error = try await refusal(method, path, body: body)
      #expect(error.status == .serviceUnavailable && error.code == "TOKENS_FAILED", "\(method) \(path)")
    }
    #expect(try String(contentsOfFile: folder.tokens.path, encoding: .utf8) == "oops")
  }

  // MARK: revoking

  @Test(
    "revoke by ID or by name: refused with the next request, connections are checked at once; again: the same answer")
  func revoke() async throws {
    let (one, other) = (try await create(#"{"name":"one"}"#), try await create(#"{"name":"other"}"#))
    let response = try await ask(.delete, "/api/tokens/\(one.id)", by: other.id)
    #expect(response.logValue == "\(one.id) control" && response.logFields == ["name": "one", "by": "other"])
    #expect(verify(one.token) == .failure(.invalid) && checks.count.withLock { $0 } == 1)
    _ = try await ask(.delete, "/api/tokens/other")
    #expect(verify(other.token) == .failure(.invalid) && checks.count.withLock { $0 } == 2)
    clocks.seconds += 60
    let again = try await ask(.delete, "/api/tokens/\(one.id)").object()["client"] as? [String: Any]
    #expect(again?["revokedISO"] as? String == "2027-01-15T08:00:00Z")
  }

  @Test("revoke what is not there, or by a name that two have: 404, 409, and nothing is revoked")
  func revokeNone() async throws {
    #expect(try await refusal(.delete, "/api/tokens/zzzzzzzz").status == .notFound)
    let texts = try folder.tokens.change { file in
      (0..<2).map { _ in file.create(name: "twin", scope: .read, expires: nil, now: 1).text }
    }
    let error = try await refusal(.delete, "/api/tokens/twin")
    #expect(error.status == .conflict && error.code == "NAME_AMBIGUOUS")
    for text in texts { #expect(throws: Never.self) { try verify(text).get() } }
    #expect(checks.count.withLock { $0 } == 0)
  }

  @Test("the last valid admin's: refused unless it is said; a revoked or an expired one does not count")
  func lastAdmin() async throws {
    let (last, other) = (
      try await create(#"{"name":"last","scope":"admin"}"#), try await create(#"{"name":"other","scope":"admin"}"#)
    )
    _ = try await create(#"{"name":"short","scope":"admin","validSeconds":60}"#)
    clocks.seconds += 60
    _ = try await ask(.delete, "/api/tokens/\(other.id)")
    let error = try await refusal(.delete, "/api/tokens/\(last.id)")
    #expect(error.status == .conflict && error.code == "LAST_ADMIN" && error.message.contains("lastAdmin=true"))
    #expect(throws: Never.self) { try verify(last.token).get() }
    #expect(try await refusal(.delete, "/api/tokens/\(last.id)", query: ["lastAdmin": "yes"]).field == "lastAdmin")
    _ = try await ask(.delete, "/api/tokens/\(last.id)", query: ["lastAdmin": "true"], by: last.id)
    #expect(verify(last.token) == .failure(.invalid), "a token may revoke itself")
  }

  // MARK: tickets

  @Test("a ticket: exchanged once for the token, whose text is in no log line; the address is the page's")
  func ticket() async throws {
    let made = try await create(#"{"name":"phone","page":"http://pi.local:8000/"}"#)
    let address = try #require(made.ticket?["address"] as? String)
    #expect(
      address.wholeMatch(of: ##/http://pi\.local:8000/#/ticket/[A-Za-z0-9_-]{22}/##) != nil
        && !address.contains(made.id))
    #expect(made.ticket?["seconds"] as? Int == 300)
    let rows = try #require(made.ticket?["picture"] as? [String])
    #expect(rows == QRCode(of: address)?.modules.map { String($0.map { $0 ? "1" : "0" }) })
    let response = try await ask(.post, "/api/ticket", body: #"{"ticket":"\#(try code(made))"}"#)
    let object = try response.object()
    #expect(object["token"] as? String == made.token && object["name"] as? String == "phone")
    #expect(response.logValue == "\(made.id) control")
    let error = try await refusal(.post, "/api/ticket", body: #"{"ticket":"\#(try code(made))"}"#)
    #expect(error.status == .notFound && error.code == "TICKET_INVALID")
  }

  @Test("a ticket is good to the last instant of five minutes, not once its token is revoked, here or in the terminal")
  func ticketEnds() async throws {
    func another(_ name: String) async throws -> Made {
      try await create(#"{"name":"\#(name)","page":"http://pi/"}"#)
    }
    let (early, late) = (try await another("early"), try await another("late"))
    clocks.now = clocks.now + .seconds(300) - Nanoseconds(1)
    #expect(try await exchange(try code(early)) == early.token)
    clocks.now = clocks.now + Nanoseconds(1)
    await #expect(throws: APIError.self) { try await exchange(try code(late)) }
    let (here, there) = (try await another("here"), try await another("there"))
    _ = try await ask(.delete, "/api/tokens/here")
    try folder.tokens.change { file throws(TokenFileError) in try file.revoke(there.id, now: clocks.seconds) }
    for made in [here, there] { await #expect(throws: APIError.self) { try await exchange(try code(made)) } }
  }

  @Test("sixteen tickets are open; one more ends the oldest")
  func manyTickets() {
    let tickets = TokenTickets()
    let texts = (0..<17).map { tickets.issue(for: "token \($0)", tokenID: "\($0)", at: .zero) }
    #expect(tickets.exchange(texts[0], at: .zero) == nil)
    for number in 1..<17 { #expect(tickets.exchange(texts[number], at: .zero)?.token == "token \(number)") }
  }

  @Test("without a token only the ticket's route is open")
  func scopes() {
    #expect(
      routes.map { "\($0.method) \($0.scope?.rawValue ?? "–")" } == [
        "GET admin", "POST admin", "DELETE admin", "POST –",
      ])
  }
}
