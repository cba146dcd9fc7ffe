import Foundation
import Testing

@testable import TactusClient

@Suite("Retry")
struct RetryTests {
  private func caller(_ daemon: FakeDaemon, _ clock: ManualClock, random: Double) -> Caller {
    Caller(transport: daemon, token: nil, clock: clock, random: FixedRandom(value: random))
  }

  @Test(
    "a stop that nobody answers: four attempts, with waits of half of to all of 1, 2 and 2 s", arguments: [0, 0.5, 1])
  @MainActor
  func stop(random: Double) async {
    let (daemon, clock) = (FakeDaemon(), ManualClock())
    daemon.answer("/api/stop") { _ throws(ClientError) in throw .unreachable("gone") }
    let caller = caller(daemon, clock, random: random)
    let call = Task { try await caller.call(ClientRequest("POST", "/api/stop", kind: .makesSafe)) }
    var at: Duration = .zero
    for (attempt, longest) in [1.0, 2, 2].enumerated() {
      at += .seconds(longest * (0.5 + 0.5 * random))
      await eventually("attempt \(attempt + 1) waits") { clock.deadlines == [at] }
      #expect(daemon.requests.count == attempt + 1)
      clock.advanceToNext()
    }
    await #expect(throws: ClientError.unreachable("gone")) { try await call.value }
    #expect(daemon.requests.count == 4 && clock.deadlines.isEmpty)
  }

  @Test("a stop that is answered at the third attempt succeeds")
  @MainActor
  func third() async throws {
    let (daemon, clock) = (FakeDaemon(), ManualClock())
    daemon.answer("/api/stop") { [daemon = Weak(daemon)] _ throws(ClientError) in
      guard daemon.value?.requests.count ?? 0 < 3 else { return ClientAnswer(status: 200, body: Data("{}".utf8)) }
      throw .unreachable("gone")
    }
    let caller = caller(daemon, clock, random: 0)
    let call = Task { try await caller.call(ClientRequest("POST", "/api/stop", kind: .makesSafe)) }
    for _ in 0..<2 {
      await eventually("a wait") { !clock.deadlines.isEmpty }
      clock.advanceToNext()
    }
    _ = try await call.value
    #expect(daemon.requests.count == 3)
  }

  @Test("what starts something is sent once, whatever happens", arguments: [ClientRequest.Kind.act, .stream, .look])
  func once(kind: ClientRequest.Kind) async {
    let (daemon, clock) = (FakeDaemon(), ManualClock())
    daemon.answer("/api/zone/1/on") { _ throws(ClientError) in throw .unreachable("gone") }
    await #expect(throws: ClientError.unreachable("gone")) {
      try await caller(daemon, clock, random: 0).call(ClientRequest("POST", "/api/zone/1/on", kind: kind))
    }
    #expect(daemon.requests.count == 1 && clock.deadlines.isEmpty)
  }

  @Test("a refusal is not tried again, and says the daemon's code, message and field")
  func refusal() async {
    let (daemon, clock) = (FakeDaemon(), ManualClock())
    daemon.answer(
      "/api/stop", 422, #"{"ok":false,"code":"VALIDATION","message":"minutes: too many","field":"minutes"}"#)
    let expected = Refusal(status: 422, code: "VALIDATION", message: "minutes: too many", field: "minutes")
    await #expect(throws: ClientError.refused(expected)) {
      try await caller(daemon, clock, random: 0).call(ClientRequest("POST", "/api/stop", kind: .makesSafe))
    }
    #expect(daemon.requests.count == 1)
  }

  @Test(
    "a daemon without room, and a loop that was late, are asked again for a stop",
    arguments: [(503, "BUSY"), (409, "STALE")])
  @MainActor
  func room(status: Int, code: String) async throws {
    let (daemon, clock) = (FakeDaemon(), ManualClock())
    daemon.answer("/api/stop", status, #"{"ok":false,"code":"\#(code)","message":"later"}"#)
    let caller = caller(daemon, clock, random: 0)
    let call = Task { try await caller.call(ClientRequest("POST", "/api/stop", kind: .makesSafe)) }
    await eventually("a wait") { !clock.deadlines.isEmpty }
    daemon.answer("/api/stop", #"{"ok": true}"#)
    clock.advanceToNext()
    _ = try await call.value
    #expect(daemon.requests.count == 2)
  }

  @Test("a page of a proxy keeps its status; a document that is wrong is told with the member")
  func wrong() async {
    let (daemon, clock) = (FakeDaemon(), ManualClock())
    daemon.answer("/api/leg", 502, "<html>")
    daemon.answer("/api/robot", #"{"state": "stopped"}"#)
    let caller = caller(daemon, clock, random: 0)
    await #expect(throws: ClientError.refused(Refusal(status: 502, code: "HTTP_502", message: "HTTP status 502"))) {
      try await caller.call(ClientRequest("GET", "/api/leg", kind: .look))
    }
    await #expect(
      throws: ClientError.unintelligible("RobotState: : expected a member reason, got none")
    ) { try await caller.call(ClientRequest("GET", "/api/robot", kind: .look), as: RobotState.self) }
  }
}

struct Weak<Value: AnyObject & Sendable>: Sendable {
  weak let value: Value?
  init(_ value: Value) { self.value = value }
}
