import HTTPTypes
import Peers
import Synchronization
import Tactus
import Testing

@testable import Service

/// Knows three tokens by heart.
private struct FixedTokens: TokenVerifier {
  func verify(_ token: String, now: Int64) -> Result<TokenGrant, TokenRefusal> {
    switch token {
    case "reader": .success(TokenGrant(tokenID: "r", scope: .read, expires: nil))
    case "driver": .success(TokenGrant(tokenID: "d", scope: .control, expires: now + 60))
    case "admin": .success(TokenGrant(tokenID: "a", scope: .admin, expires: nil))
    case "old": .failure(.expired)
    default: .failure(.invalid)
    }
  }
}

@Suite("Access control")
struct AccessControlTests {
  private let clocks = SetClocks()
  private let accessControl: AccessControl
  private let open: AccessControl

  init() throws {
    let rules = try HostRules(
      machineName: "Pi.example.org", allowedHosts: ["robot.example.org:443", "Proxy"],
      allowedOrigins: ["https://home.example.org", "capacitor://localhost"])
    let clocks = clocks
    accessControl = AccessControl(rules: rules, tokens: FixedTokens(), seconds: { clocks.seconds }, now: { clocks.now })
    open = AccessControl(
      rules: rules, tokens: FixedTokens(), isOpen: true, seconds: { clocks.seconds }, now: { clocks.now })
  }

  private func refusal(
    _ request: HTTPRequest, peer: String = "192.168.1.7", scope: Scope? = .read, by accessControl: AccessControl? = nil
  ) -> APIError? {
    do throws(APIError) {
      _ = try (accessControl ?? self.accessControl).admit(request, peer: peer, scope: scope)
      return nil
    } catch {
      return error
    }
  }

  private func code(_ request: HTTPRequest, scope: Scope? = .read, by accessControl: AccessControl? = nil) -> String {
    refusal(request, scope: scope, by: accessControl).map { "\($0.status.code) \($0.code)" } ?? "in"
  }

  @Test(
    "Host: addresses, this machine's names and listed ones come in, whatever the port; others are refused",
    arguments: [
      ("127.0.0.1", true), ("127.0.0.1:8000", true), ("192.168.1.7:1", true), ("[::1]", true), ("[fe80::1]:8000", true),
      ("localhost", true), ("LOCALHOST:8000", true), ("pi.example.org", true), ("pi.local:8000", true),
      ("PI.local", true),
      ("robot.example.org", true), ("proxy:9", true), ("localhost:", true), ("pi.example.org:65535", true),
      ("pi", false), ("evil.example.com", false), ("localhost.evil.example.com", false), ("127.0.0.1.evil.com", false),
      ("127.1", false), ("2130706433", false), ("0x7f.0.0.1", false), ("::1", false), ("[::1", false),
      ("[::1]x", false),
      ("[fe80::1%eth0]", false), ("[evil]", false), ("user@localhost", false), ("localhost:65536", false),
      ("localhost:-1", false), ("localhost:80:80", false), ("localhost/", false), ("", false),
      (":8000", false), ("localhost,localhost", false), ("\u{212A}", false),
      ("localhost.", true), ("LOCALHOST.:8000", true), ("pi.local.", true), ("robot.example.org.:1", true),
      ("localhost..", false), (".", false), ("127.0.0.1.", false), ("evil.example.com.", false),
    ])
  func hosts(host: String, isAllowed: Bool) {
    #expect(code(request(host: host, bearer("reader"))) == (isAllowed ? "in" : "400 HOST_DENIED"))
  }

  @Test(
    "the name in .local is made of the machine's first label; a machine without one has none",
    arguments: [("pi", "pi.local"), ("pi.example.org", "pi.local"), ("", ""), (".example", "")])
  func localName(_ machine: String, _ expected: String) { #expect(HostRules.localName(of: machine) == expected) }

  @Test("Host: a listed name and this machine's are compared without their root dot, on both sides")
  func rootDot() throws {
    let rules = try HostRules(
      machineName: "pi.example.org.", allowedHosts: ["robot.example.org.:443"],
      allowedOrigins: ["https://home.example.org."])
    let accessControl = AccessControl(rules: rules, tokens: FixedTokens(), isOpen: true, seconds: { 0 }, now: { .zero })
    for host in ["robot.example.org", "robot.example.org.", "pi.example.org", "pi.example.org.:8000", "pi.local."] {
      #expect(code(request(host: host), by: accessControl) == "in", "\(host)")
    }
    for origin in ["http://pi.local:8000", "http://pi.local.:8000", "https://home.example.org"] {
      #expect(code(request(host: "pi.local.:8000", [("Origin", origin)]), by: accessControl) == "in", "\(origin)")
      let fields = CrossOrigin(["https://home.example.org."]).fields(
        for: request(host: "pi.local", [("Origin", origin)]))
      #expect(fields.isEmpty == origin.hasPrefix("http:"), "\(origin)")
    }
    #expect(throws: HostRulesError.host("robot..")) { try HostRules(allowedHosts: ["robot.."]) }
  }

  @Test("Host: missing or given twice is refused, before anything else is looked at")
  func hostCount() {
    #expect(code(request(host: nil, bearer("reader"))) == "400 HOST_DENIED")
    #expect(code(request([("host", "localhost")] + bearer("reader"))) == "400 HOST_DENIED")
    #expect(code(request(host: "evil.example.com"), by: open) == "400 HOST_DENIED")
  }

  @Test(
    "Origin: the page this door served or a listed one; others are refused",
    arguments: [
      ("http://localhost:8000", true), ("HTTP://LOCALHOST:8000", true), ("https://home.example.org", true),
      ("https://home.example.org:443", true), ("capacitor://localhost", true),
      ("https://localhost:8000", false), ("http://localhost", false), ("http://localhost:8001", false),
      ("http://127.0.0.1:8000", false), ("http://home.example.org", false), ("https://home.example.org:444", false),
      ("https://home.example.org.evil.com", false), ("https://evil.com", false), ("null", false), ("", false),
      ("http://localhost:8000/", false), ("http://localhost:8000 http://evil.com", false), ("http:localhost", false),
      ("//localhost:8000", false), ("http://user@localhost:8000", false), ("file://", false), ("*", false),
    ])
  func origins(origin: String, isAllowed: Bool) {
    let fields = [("Origin", origin)]
    let expected = isAllowed ? "in" : "403 ORIGIN_DENIED"
    #expect(code(request(host: "localhost:8000", fields + bearer("reader"))) == expected)
    // A door without tokens stands or falls with this check.
    #expect(code(request(host: "localhost:8000", fields), scope: .admin, by: open) == expected)
  }

  @Test("Origin: the scheme's own port may be left out; two origins are refused; none is no browser")
  func originDetails() {
    #expect(code(request(host: "localhost", [("Origin", "http://localhost:80")] + bearer("reader"))) == "in")
    #expect(
      code(request(host: "pi.local", scheme: "https", [("Origin", "https://pi.local")] + bearer("reader"))) == "in")
    let same = ("Origin", "http://localhost:8000")
    #expect(code(request(host: "localhost:8000", [same, same] + bearer("reader"))) == "403 ORIGIN_DENIED")
    #expect(code(request(bearer("reader"))) == "in")
  }

  @Test(
    "the token's place: Authorization in any case, or a WebSocket's subprotocol",
    arguments: [
      ([("Authorization", "Bearer reader")], "in"), ([("authorization", "bEARER \t reader")], "in"),
      ([("Sec-WebSocket-Protocol", "events.v1, bearer.reader")], "in"),
      ([("Sec-WebSocket-Protocol", "events.v1"), ("Sec-WebSocket-Protocol", "bearer.reader")], "in"),
      ([], "401 TOKEN_MISSING"), ([("Authorization", "Basic cmVhZGVy")], "401 TOKEN_MISSING"),
      ([("Authorization", "")], "401 TOKEN_MISSING"), ([("Sec-WebSocket-Protocol", "events.v1")], "401 TOKEN_MISSING"),
      ([("X-Authorization", "Bearer reader")], "401 TOKEN_MISSING"),
      ([("Authorization", "Bearer")], "401 TOKEN_INVALID"),
      ([("Authorization", "Bearer reader x")], "401 TOKEN_INVALID"),
      ([("Authorization", "Bearer wrong")], "401 TOKEN_INVALID"),
      ([("Authorization", "Bearer old")], "401 TOKEN_EXPIRED"),
      ([("Sec-WebSocket-Protocol", "bearer.")], "401 TOKEN_INVALID"),
      ([("Authorization", "Bearer reader"), ("Authorization", "Bearer reader")], "400 TOKEN_AMBIGUOUS"),
      ([("Authorization", "Bearer reader"), ("Sec-WebSocket-Protocol", "bearer.reader")], "400 TOKEN_AMBIGUOUS"),
      ([("Sec-WebSocket-Protocol", "bearer.reader,bearer.admin")], "400 TOKEN_AMBIGUOUS"),
    ] as [([(String, String)], String)])
  func places(fields: [(String, String)], expected: String) {
    #expect(code(request(fields)) == expected)
  }

  @Test("a token in the query: nobody looks there")
  func query() {
    var request = request()
    request.path = "/api/robot?token=reader&access_token=reader"
    #expect(code(request) == "401 TOKEN_MISSING")
  }

  @Test("scopes: each includes those before it", arguments: Scope.allCases)
  func scopes(scope: Scope) {
    for (token, own) in [("reader", Scope.read), ("driver", .control), ("admin", .admin)] {
      #expect(code(request(bearer(token)), scope: scope) == (own >= scope ? "in" : "403 SCOPE_DENIED"))
    }
  }

  @Test("refusals: invalid and expired look alike, and no secret is in them")
  func answers() throws {
    let missing = try #require(refusal(request()))
    #expect(missing.headers[.wwwAuthenticate] == #"Bearer realm="tactus""#)
    for token in ["old", "quite-secret"] {
      let error = try #require(refusal(request(bearer(token))))
      #expect(error.status == .unauthorized)
      #expect(error.headers == [.wwwAuthenticate: #"Bearer realm="tactus", error="invalid_token""#])
      #expect(!"\(error)".contains("quite-secret"))
      #expect(error.field == nil)
    }
  }

  @Test("a caller: scope, token and end; one number for a token from an address, another for any other")
  func callers() throws {
    func caller(_ token: String, _ peer: String) throws -> Caller {
      try accessControl.admit(request(bearer(token)), peer: peer, scope: .read)
    }
    let first = try caller("driver", "192.168.1.7")
    #expect(first.scope == .control && first.tokenID == "d" && first.address == "192.168.1.7")
    #expect(first.expires == clocks.seconds + 60)
    #expect(first.client == 1)
    #expect(try caller("driver", "192.168.1.7").client == 1)
    #expect(try caller("driver", "192.168.1.8").client == 2)
    #expect(try caller("admin", "192.168.1.7").client == 3)
    #expect(try caller("driver", "192.168.1.7").client == 1)
  }

  @Test("client numbers: 1,024 are remembered, the one longest silent is forgotten, and no number is given twice")
  func numbers() {
    let numbers = ClientNumbers()
    for index in 1...1024 { #expect(numbers.number(tokenID: "t", address: "\(index)") == UInt32(index)) }
    #expect(numbers.number(tokenID: "t", address: "1") == 1)
    #expect(numbers.number(tokenID: nil, address: "1") == 1025)
    #expect(numbers.number(tokenID: "t", address: "1") == 1)
    #expect(numbers.number(tokenID: "t", address: "2") == 1026)
  }

  @Test("a route for anyone: no token is needed; one that is shown must be valid")
  func anyone() throws {
    let nobody = try accessControl.admit(request(), peer: "::1", scope: nil)
    #expect(nobody.scope == .read && nobody.tokenID == nil && nobody.client == 0)
    #expect(code(request(bearer("wrong")), scope: nil) == "401 TOKEN_INVALID")
    #expect(try accessControl.admit(request(bearer("admin")), peer: "::1", scope: nil).scope == .admin)
  }

  @Test("without tokens: who shows none is admin, numbered by address; a wrong or narrow one is refused all the same")
  func withoutTokens() throws {
    let caller = try open.admit(request(), peer: "127.0.0.1", scope: .admin)
    #expect(caller.scope == .admin && caller.tokenID == nil && caller.client == 1)
    #expect(try open.admit(request(), peer: "127.0.0.1", scope: .admin).client == 1)
    #expect(code(request(bearer("wrong")), by: open) == "401 TOKEN_INVALID")
    #expect(code(request(bearer("reader")), scope: .control, by: open) == "403 SCOPE_DENIED")
  }

  @Test("wrong tokens: ten are answered, then one every six seconds; valid ones always pass, other addresses too")
  func attempts() throws {
    let wrong = request(bearer("wrong"))
    for _ in 0..<10 { #expect(code(wrong) == "401 TOKEN_INVALID") }
    let error = try #require(refusal(wrong))
    #expect(error.status == .tooManyRequests && error.code == "TOO_MANY_ATTEMPTS")
    #expect(error.headers == [.retryAfter: "6"])
    #expect(code(request(bearer("driver")), scope: .control) == "in")
    #expect(refusal(wrong, peer: "192.168.1.8")?.code == "TOKEN_INVALID")
    // Missing tokens and denied scopes are no guesses.
    #expect(code(request()) == "401 TOKEN_MISSING")
    clocks.now = clocks.now + .milliseconds(5_999)
    #expect(refusal(wrong)?.headers[.retryAfter] == "1")
    clocks.now = clocks.now + .milliseconds(1)
    #expect(code(wrong) == "401 TOKEN_INVALID")
    #expect(code(wrong) == "429 TOO_MANY_ATTEMPTS")
    clocks.now = clocks.now + .seconds(60 as Int64)
    for _ in 0..<10 { #expect(code(wrong) == "401 TOKEN_INVALID") }
    #expect(code(wrong) == "429 TOO_MANY_ATTEMPTS")
  }

  @Test(
    "addresses: an IPv6 network is one, IPv4 in IPv6 clothes is itself; 3,000 of them take no more than 1,024 places")
  func addresses() {
    let limiter = AttemptLimiter()
    let now = TickInstant(nanoseconds: 1)
    for index in 0..<10 { #expect(limiter.fail("2001:db8::\(index)", at: now) == nil) }
    #expect(limiter.fail("2001:db8::ffff", at: now) == 6)
    #expect(limiter.fail("2001:db8:0:1::1", at: now) == nil)
    for _ in 0..<10 { #expect(limiter.fail("::ffff:10.0.0.1", at: now) == nil) }
    #expect(limiter.fail("10.0.0.1", at: now) == 6)
    #expect(limiter.fail("::ffff:10.0.0.2", at: now) == nil)
    #expect(limiter.fail("fe80::1%eth0", at: now) == nil)
    #expect(limiter.fail("", at: now) == nil)
    for index in 0..<3_000 { _ = limiter.fail("10.\(index >> 16).\(index >> 8 & 255).\(index & 255)", at: now) }
    #expect(limiter.addresses == 1024)
  }

  @Test("wrong passwords: ten of an address are looked at, then one every 6 s; a hundred of all, then one in 600 ms")
  func passwords() {
    let limiter = AttemptLimiter()
    var now = TickInstant(nanoseconds: 1)
    func guess(_ peer: String, _ count: Int = 1_000) -> Int {
      (0..<count).count { _ in
        guard limiter.wait(peer, at: now) == nil else { return false }
        limiter.failPassword(peer, at: now)
        return true
      }
    }
    limiter.succeed("10.1.1.1")
    #expect(guess("10.0.0.1") == 10 && limiter.wait("10.0.0.1", at: now) == 6)
    now = now + .seconds(60 as Int64)
    #expect((0..<50).map { guess("10.0.1.\($0)") }.reduce(0, +) == 100, "of all")
    #expect(limiter.wait("10.0.2.1", at: now) == 1)
    #expect(guess("10.1.1.1") == 10, "an address that has shown the right one is held by its own alone")
    now = now + .seconds(6 as Int64)
    #expect(guess("10.0.1.0") == 1 && guess("10.0.2.1") == 9 && guess("10.0.2.2") == 0)
  }

  @Test("10,000 seeded random heads: an answer each time, and nobody comes in without a token")
  func fuzz() {
    let seed: UInt64 = 42
    var generator = SplitMix64(seed: seed)
    let names = ["Origin", "Authorization", "Sec-WebSocket-Protocol", "Host", "Cookie", "X-Forwarded-For"]
    let pieces = [
      "http://", "localhost", ":", "8000", "Bearer", " ", "reader", "bearer.", ",", "null", "[", "]", "::1", "@", "/",
      "\t", "é", "%", "admin", "driver", "old", "Basic", "127.0.0.1", ".", "\u{212A}", "",
    ]
    var entered = 0
    for _ in 0..<10_000 {
      func text(_ generator: inout SplitMix64) -> String {
        (0..<Int(generator.below(6 as UInt64))).map { _ in pieces[Int(generator.below(UInt64(pieces.count)))] }.joined()
      }
      let host = generator.chance(perMille: 800) ? "localhost:8000" : text(&generator)
      let fields = (0..<Int(generator.below(4 as UInt64))).map { _ in
        (names[Int(generator.below(UInt64(names.count)))], text(&generator))
      }
      do throws(APIError) {
        let caller = try accessControl.admit(
          request(host: host, fields), peer: "\(generator.below(2000 as UInt64))", scope: .read)
        entered += 1
        #expect(caller.tokenID != nil, "seed \(seed): \(host) \(fields)")
      } catch {
        #expect([400, 401, 403, 429].contains(error.status.code), "seed \(seed): \(host) \(fields)")
      }
    }
    #expect(entered > 0, "seed \(seed) never found the way in")
  }

  @Test("rules: an entry that can never match is refused where it is configured")
  func entries() {
    #expect(throws: HostRulesError.host("http://pi")) { try HostRules(allowedHosts: ["http://pi"]) }
    #expect(throws: HostRulesError.origin("pi.local")) { try HostRules(allowedOrigins: ["pi.local"]) }
    #expect(throws: HostRulesError.origin("null")) { try HostRules(allowedOrigins: ["null"]) }
  }
}
