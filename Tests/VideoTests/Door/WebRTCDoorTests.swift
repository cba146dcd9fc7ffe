import Foundation
import HTTPTypes
import ServiceSupport
import Synchronization
import Tactus
import TestSupport
import Testing
import Video

@testable import Service
@testable import TactusDaemon
@testable import VideoDaemon

@Suite("WebRTC behind the door", .ownThread)
struct WebRTCDoorTests {
  private static let path = "/api/video/whep"
  private static let offer = Array(WebRTCOffers.chromium.utf8)

  private func request(_ body: [UInt8] = offer, parameters: [String: String] = [:]) -> APIRequest {
    APIRequest(caller: Caller(scope: .read, tokenID: nil, address: "x", client: 0), parameters: parameters, body: body)
  }

  private func ask(_ bench: VideoBench, _ method: HTTPRequest.Method, _ request: APIRequest) async throws -> APIResponse
  {
    let path = method == .post ? Self.path : Self.path + "/{session}"
    let route = try #require(bench.door.routes.first { $0.path == path && $0.method == method })
    guard case .handler(let handle) = route.handling else { throw APIError.notFound("no handler") }
    return try await handle(request)
  }

  /// Asks for a session and answers as the video process would.
  private func open(
    _ bench: VideoBench, _ report: @escaping @Sendable (UInt64) -> VideoReport
  ) async throws -> (response: APIResponse, session: UInt64) {
    async let response = ask(bench, .post, request())
    let session = try await opened(bench)
    bench.desk.receive(report(session))
    return (try await response, session)
  }

  /// The number of the session of the newest order to open one.
  private func opened(_ bench: VideoBench) async throws -> UInt64 {
    while true {
      if case .open(let session, let offer) = bench.orders.withLock({ $0.last }) {
        #expect(offer.payloadType == 108)
        return session
      }
      await Task.yield()
    }
  }

  private func code(_ work: () async throws -> APIResponse) async -> (status: Int, code: String)? {
    do {
      _ = try await work()
      return nil
    } catch {
      return (error as? APIError).map { ($0.status.code, $0.code) }
    }
  }

  @Test("an offer: 201 with the answer and the session's place; it counts as a viewer until it is deleted")
  func session() async throws {
    let bench = VideoBench()
    let (response, session) = try await open(bench) { .answer(session: $0, "v=0\r\n") }
    #expect(response.status == .created && response.contentType == "application/sdp")
    #expect(String(decoding: response.body, as: UTF8.self) == "v=0\r\n")
    let digits = String(session, radix: 16)
    let name = String(repeating: "0", count: 16 - digits.count) + digits
    #expect(response.headers[.location] == "\(Self.path)/\(name)")
    #expect(bench.desk.seen(at: bench.now).viewers.whep == 1)
    _ = try await ask(bench, .delete, request(parameters: ["session": name]))
    #expect(bench.orders.withLock { $0.last } == .close(session: session))
    #expect(bench.desk.seen(at: bench.now).viewers.whep == 0)
    for gone in [name, "0", "zz", name.uppercased() + " ", "", String(repeating: "f", count: 400)] {
      #expect(await code { try await ask(bench, .delete, request(parameters: ["session": gone])) }?.status == 404)
    }
  }

  @Test(
    "the token that opened a session is revoked: the process is told to end it, and its place is free; deleted before: nothing"
  )
  func revoked() async throws {
    typealias Watch = (isNeeded: @Sendable () -> Bool, ended: @Sendable (String) -> Void)
    let watches = Mutex<[Watch]>([])
    var watched = request()
    watched.beginWatch = { isNeeded, ended in watches.withLock { $0.append((isNeeded, ended)) } }
    let bench = VideoBench()
    async let response = ask(bench, .post, watched)
    let session = try await opened(bench)
    bench.desk.receive(.answer(session: session, "v=0\r\n"))
    #expect(try await response.status == .created)
    let watch = try #require(watches.withLock { $0.first })
    #expect(watch.isNeeded())
    watch.ended("TOKEN_INVALID")
    #expect(bench.orders.withLock { $0.last } == .close(session: session))
    #expect(bench.desk.snapshot.sessions.isEmpty && !watch.isNeeded())
    bench.orders.withLock { $0 = [] }
    watch.ended("TOKEN_INVALID")
    #expect(bench.orders.withLock { $0.isEmpty })
  }

  @Test("as many sessions as there may be viewers: the next is refused, as a stream is; one ends, and there is a place")
  func places() async throws {
    let bench = VideoBench(viewers: 1)
    let (_, session) = try await open(bench) { .answer(session: $0, "v=0\r\n") }
    #expect(await code { try await ask(bench, .post, request()) }?.code == "VIEWERS")
    #expect(throws: APIError.self) { try bench.desk.join(.fragments) }
    bench.desk.receive(.ended(session: session, WebRTCEnd(.over, "left")))
    bench.orders.withLock { $0 = [] }
    _ = try await open(bench) { .answer(session: $0, "v=0\r\n") }
  }

  @Test("the process cannot, or will not: 501 with what to install, 422 with why; no place is taken")
  func refusals() async throws {
    let bench = VideoBench()
    let kinds: [(WebRTCEnd.Kind, Int, String)] = [
      (.unavailable, 501, "NO_WEBRTC"), (.refused, 422, "VALIDATION"), (.over, 503, "SESSION_ENDED"),
    ]
    for (kind, status, word) in kinds {
      bench.orders.withLock { $0 = [] }
      let found = await code { try await open(bench) { .ended(session: $0, WebRTCEnd(kind, "apt install")) }.response }
      #expect(found.map { $0 == (status, word) } == true, "\(kind)")
    }
    #expect(bench.desk.snapshot.sessions.isEmpty)
  }

  @Test("the process ends: whoever waits for an answer is told, and its sessions are gone")
  func processEnds() async throws {
    let bench = VideoBench()
    _ = try await open(bench) { .answer(session: $0, "v=0\r\n") }
    bench.orders.withLock { $0 = [] }
    async let waiting = code { try await ask(bench, .post, request()) }
    _ = try await opened(bench)
    bench.desk.receive(ChildReport())
    #expect(await waiting?.code == "VIDEO_DOWN")
    #expect(bench.desk.snapshot.sessions.isEmpty)
    #expect(await code { try await ask(bench, .post, request()) }?.code == "VIDEO_DOWN")
  }

  @Test("no answer within eight seconds: 503, and the process is told that the session is not wanted")
  func late() async throws {
    let bench = VideoBench()
    async let waiting = code { try await ask(bench, .post, request()) }
    let session = try await opened(bench)
    bench.pass(seconds: 7.9)
    _ = bench.door.events(at: bench.now, second: true)
    #expect(bench.desk.snapshot.sessions.count == 1)
    bench.pass(seconds: 0.2)
    _ = bench.door.events(at: bench.now, second: true)
    #expect(await waiting?.code == "VIDEO_DOWN")
    #expect(bench.orders.withLock { $0.last } == .close(session: session))
  }

  @Test("a camera that has failed: 503 with its cause, and no session")
  func noPicture() async throws {
    let bench = VideoBench()
    bench.desk.receive(.camera(VideoCameraState(.failed, cause: "unplugged")))
    #expect(await code { try await ask(bench, .post, request()) }?.code == "NO_PICTURE")
    #expect(bench.orders.withLock { $0.isEmpty })
  }

  @Test("what is no offer: a status for each cause, and the process hears nothing of it")
  func offers() async throws {
    let bench = VideoBench()
    let cases: [(String, Int, String)] = [
      ("", 400, "BODY_MISSING"), ("{}", 400, "BAD_SDP"), ("v=0\r\n", 422, "VALIDATION"),
      (WebRTCOffers.chromium.replacing("H264", with: "VP9"), 406, "NO_H264"),
      (WebRTCOffers.chromium.replacing("a=ice-pwd:", with: "a=x:"), 422, "VALIDATION"),
    ]
    for (text, status, word) in cases {
      let found = await code { try await ask(bench, .post, request(Array(text.utf8))) }
      #expect(found.map { $0 == (status, word) } == true, "\(text.prefix(20)): \(String(describing: found))")
    }
    #expect(bench.orders.withLock { $0.isEmpty })
  }

  @Test("another content type: 415 that names the right one; too long: 413")
  func bodies() throws {
    let service = try RunningService(systems: [VideoBench().door])
    let typed = try service.request("POST", Self.path, headers: ["Content-Type": "application/json"], body: "{}")
    #expect(typed.status == 415 && typed.message.contains("application/sdp"))
    let long = String(repeating: "v", count: WebRTCOffer.limit + 1)
    #expect(
      try service.request("POST", Self.path, headers: ["Content-Type": "application/sdp"], body: long).status == 413)
  }
}
