import ServiceSupport
import Synchronization
import Tactus
import TestSupport
import Testing

@testable import Service

/// One token, which is valid until it is revoked.
private final class OneToken: TokenVerifier {
  let isRevoked = Mutex(false)

  func verify(_ token: String, now: Int64) -> Result<TokenGrant, TokenRefusal> {
    guard token == "good" || token == "other", token == "other" || !isRevoked.withLock({ $0 }) else {
      return .failure(.invalid)
    }
    return .success(TokenGrant(tokenID: token, scope: .read, expires: nil))
  }
}

/// Holds a stream's piece back until it is let go.
private final class Spring: Sendable {
  private let state = Mutex<(isFirst: Bool, isOver: Bool, waiting: [CheckedContinuation<[UInt8]?, Never>])>(
    (true, false, []))

  func next() async -> [UInt8]? {
    await withCheckedContinuation { waiting in
      let (isReady, piece) = state.withLock { state -> (Bool, [UInt8]?) in
        defer { state.isFirst = false }
        if state.isFirst { return (true, Array("first".utf8)) }
        if state.isOver { return (true, nil) }
        state.waiting.append(waiting)
        return (false, nil)
      }
      if isReady { waiting.resume(returning: piece) }
    }
  }

  func end() {
    let waiting = state.withLock { state in
      state.isOver = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for one in waiting { one.resume(returning: nil) }
  }
}

@Suite("An answer without an end", .ownThread)
struct LastingAnswerTests {
  @Test("its token is revoked: the connection is closed, though no piece comes; the stream of another token goes on")
  func revoked() throws {
    let (tokens, springs) = (OneToken(), [Spring(), Spring()])
    let routes = springs.enumerated().map { number, spring in
      Route(.get, "/api/fake/stream\(number)") { _ in
        var response = APIResponse(contentType: "text/plain", body: [])
        response.pieces = { await spring.next() }
        return response
      }
    }
    let service = try RunningService(
      routes: routes,
      accessControl: AccessControl(
        rules: try HostRules(allowedHosts: ["x"], allowedOrigins: []), tokens: tokens, now: { .zero }))
    defer { for spring in springs { spring.end() } }
    let clients = try ["good", "other"].enumerated().map { number, token in
      let client = try RawSocket(port: Int(service.port))
      client.send(
        "GET /api/fake/stream\(number) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\n\r\n")
      #expect(try #require(client.takeHead()).contains(" 200 "))
      #expect(client.take(10).map { String(decoding: $0, as: UTF8.self) } == "5\r\nfirst\r\n")
      return client
    }
    tokens.isRevoked.withLock { $0 = true }
    service.service.hub.checkTokens()
    #expect(clients[0].ends())
    #expect(
      service.log.lines.contains { $0.message == "a stream was closed" && $0.metadata["reason"] == "TOKEN_INVALID" })
    springs[1].end()
    #expect(clients[1].take(5).map { String(decoding: $0, as: UTF8.self) } == "0\r\n\r\n")
  }
}
