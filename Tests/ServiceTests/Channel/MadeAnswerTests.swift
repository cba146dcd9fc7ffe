import HTTPTypes
import NIOCore
import Synchronization
import Testing

@testable import Service

@Suite("answers that are made")
struct MadeAnswerTests {
  @Test("asked for by many while one is made: the next is one for all of them, and none is older than its question")
  func common() async throws {
    let common = CommonAnswer()
    let count = Atomic(0)
    let (ended, end) = AsyncStream.makeStream(of: Void.self)
    let (began, begin) = AsyncStream.makeStream(of: Void.self)
    let make: @Sendable () async throws -> MadeAnswer = {
      let number = count.wrappingAdd(1, ordering: .relaxed).newValue
      begin.yield()
      for await _ in ended { break }
      if number == 3 { throw APIError.notFound("the third") }
      return MadeAnswer(APIResponse(contentType: "text/plain", body: Array("\(number)".utf8)))
    }
    let first = Task { try await common.answer(make) }
    for await _ in began { break }
    let others = (0..<8).map { _ in Task { try await common.answer(make) } }
    while common.waitingCount < 8 { await Task.yield() }
    end.yield()
    #expect(String(buffer: try await first.value.answer.body) == "1")
    end.yield()
    for other in others {
      let made = try await other.value
      #expect(String(buffer: made.answer.body) == "2" && made.answer.isShared && made.response.body.isEmpty)
    }
    end.yield()
    await #expect(throws: APIError.self) { try await common.answer(make) }
    #expect(count.load(ordering: .relaxed) == 3)
  }

  @Test("a route that answers all alike: also with a condition before it; its answer is shared, another's is not")
  func route() async throws {
    let route = Route(.get, "/list") { _ in APIResponse(contentType: "text/plain", body: [1]) }
    let alike = route.answeringAllAlike().requiring {}
    for (route, isShared) in [(route, false), (alike, true)] {
      guard case .handler(let handle) = route.handling else { return }
      let request = APIRequest(caller: Caller(scope: .read, tokenID: nil, address: "", client: 0))
      #expect(try await route.answer(handle, request).answer.isShared == isShared)
    }
  }

  @Test(
    "a long text is sent in gzip to who takes it, and varies by that; a command's answer, a stream, a picture and a short text are not"
  )
  func compressed() async throws {
    let text = Array(String(repeating: "zone 1 is off, ", count: 200).utf8)
    func made(
      _ body: [UInt8], _ type: String = "application/json", method: HTTPRequest.Method = .get, takesGzip: Bool = true,
      isStream: Bool = false
    ) async throws -> MadeAnswer {
      let route = Route(method, "/list") { _ in
        var response = APIResponse(contentType: type, body: body)
        if isStream { response.pieces = { nil } }
        return response
      }
      guard case .handler(let handle) = route.handling else { throw APIError.notFound("no handler") }
      var request = APIRequest(caller: Caller(scope: .read, tokenID: nil, address: "", client: 0))
      request.takesGzip = takesGzip
      return try await route.answer(handle, request)
    }
    let long = try await made(text)
    let gzip = try #require(PreparedFile.gzip(text))
    #expect(long.short.body == gzip && long.answer.body == ByteBuffer(bytes: text))
    #expect(
      long.short.head.headerFields[.contentEncoding] == "gzip" && long.answer.head.headerFields[.contentEncoding] == nil
    )
    #expect(long.short.head.headerFields[.contentLength] == String(gzip.readableBytes) && gzip.readableBytes < 200)
    #expect(
      long.short.head.headerFields[.vary] == "accept-encoding"
        && long.answer.head.headerFields[.vary] == "accept-encoding")
    // A cache between must know that others get another answer.
    let plain = try await made(text, takesGzip: false)
    #expect(plain.short.body == plain.answer.body && plain.short.head.headerFields[.contentEncoding] == nil)
    #expect(plain.short.head.headerFields[.vary] == "accept-encoding")
    for other in [
      try await made(text, method: .post), try await made(text, "image/jpeg"), try await made(text, isStream: true),
      try await made(Array(text.prefix(1400))),
    ] {
      #expect(other.short.body == other.answer.body && other.short.head.headerFields[.contentEncoding] == nil)
      #expect(other.short.head.headerFields[.vary] == nil)
    }
  }

  @Test("a long body: others have their turn behind every fourth piece, and not behind the last one")
  func pieces() {
    func turns(_ count: Int) -> [Bool] {
      var body = AnswerBody(ByteBuffer(repeating: 1, count: count))
      var (turns, rest) = ([Bool](), count)
      while let piece = body.next() {
        rest -= piece.bytes.readableBytes
        turns.append(piece.endsTurn)
        #expect(piece.bytes.readableBytes <= APIAnswer.pieceBytes && body.count == rest)
      }
      #expect(rest == 0)
      return turns
    }
    #expect(turns(0).isEmpty)
    #expect(turns(APIAnswer.pieceBytes) == [false])
    #expect(turns(4 * APIAnswer.pieceBytes) == [false, false, false, false])
    #expect(turns(9 * APIAnswer.pieceBytes) == [false, false, false, true, false, false, false, true, false])
  }
}
