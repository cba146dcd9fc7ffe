import Foundation
import Testing

@testable import TactusClient

@Suite("Connection")
@MainActor
struct LinkTests {
  @Test("a daemon that says hello: live by WebSocket, with its version, the token's scope and its systems")
  func hello() async {
    let bench = Bench()
    await bench.connect(["robot": json(SampleStates.robot), "pump": json(SampleStates.pump)])
    await eventually("the models") { bench.model.robot != nil && bench.model.pump != nil }
    #expect(bench.model.version == "1" && bench.model.scope == "control" && bench.model.sprinkler == nil)
    #expect(bench.model.pump?.state.speedPercent == 70 && bench.model.age == .zero)
  }

  @Test("no WebSocket: a poll every 3 s, and after five of them the WebSocket is tried again")
  func polling() async {
    let bench = Bench()
    bench.daemon.hasSocket = false
    bench.daemon.answer("/api/status", #"{"ok":true,"version":"1","systems":{"pump":\#(json(SampleStates.pump))}}"#)
    bench.model.start()
    for poll in 1...5 {
      await eventually("poll \(poll)") { bench.daemon.requests("/api/status").count == poll }
      await eventually("wait \(poll)") { bench.clock.deadlines.contains(.seconds(3 * poll)) }
      #expect(bench.model.state == .live(.polling) && bench.daemon.socketAttempts == 1)
      bench.clock.jump(by: .seconds(3 * poll) - bench.clock.now)
      bench.clock.advanceToNext()
    }
    await eventually("another attempt") { bench.daemon.socketAttempts == 2 }
    #expect(bench.clock.now == .seconds(15) && bench.model.pump?.state.state == .on)
    bench.daemon.hasSocket = true
    for poll in 6...10 {
      await eventually("poll \(poll)") { bench.daemon.requests("/api/status").count == poll }
      await eventually("wait \(poll)") { bench.clock.deadlines.contains(.seconds(3 * poll)) }
      bench.clock.jump(by: .seconds(3 * poll) - bench.clock.now)
      bench.clock.advanceToNext()
    }
    await eventually("a socket") { bench.daemon.socket != nil }
    bench.daemon.socket?.say(Bench.hello)
    await eventually("live") { bench.model.state == .live(.socket) }
  }

  @Test("a WebSocket that has worked and ends: one poll, and it is tried again")
  func hiccup() async {
    let bench = Bench()
    await bench.connect([:])
    bench.daemon.socket?.close()
    await eventually("it asks meanwhile") { bench.model.state == .live(.polling) }
    await eventually("it waits") { bench.clock.deadlines.contains(.seconds(3)) }
    bench.clock.jump(by: .seconds(3))
    bench.clock.advanceToNext()
    await eventually("another socket") { bench.daemon.socketsOpened == 2 }
    #expect(bench.daemon.requests("/api/status").count == 1)
  }

  @Test("a WebSocket that never opens is given up after 5 s, and the client polls")
  func blocked() async {
    let bench = Bench()
    let model = DaemonModel(
      Endpoint(host: "test"), transport: BlockedTransport(daemon: bench.daemon), clock: bench.clock,
      random: FixedRandom())
    model.start()
    await eventually("it waits") { bench.clock.deadlines == [.seconds(5)] }
    #expect(model.state == .connecting)
    bench.clock.advanceToNext()
    await eventually("it polls") { model.state == .live(.polling) }
  }

  @Test("the daemon ends and comes back: lost with the reason, the age grows, then everything is new")
  func back() async {
    let bench = Bench()
    await bench.connect(["pump": json(SampleStates.pump)])
    await eventually("a pump") { bench.model.pump != nil }
    bench.daemon.hasSocket = false
    bench.daemon.answer("/api/status") { _ throws(ClientError) in throw .unreachable("gone") }
    bench.daemon.socket?.close()
    await eventually("lost") { bench.model.state == .lost(.unreachable("gone")) }
    #expect(bench.model.pump?.state.state == .on)
    await eventually("it waits") { bench.clock.deadlines.contains(.seconds(3)) }
    bench.daemon.hasSocket = true
    bench.clock.jump(by: .seconds(3))
    #expect(bench.model.age == .seconds(3))
    bench.clock.advanceToNext()
    await eventually("another socket") { bench.daemon.socketsOpened == 2 }
    bench.daemon.socket?.say(Bench.hello)
    var off = SampleStates.pump
    off.state = .off
    bench.say("pump", json(off))
    await eventually("the new state") { bench.model.pump?.state.state == .off }
    #expect(bench.model.state == .live(.socket) && bench.model.age == .zero)
  }

  @Test("a WebSocket that says nothing for 5 s is given up for a new one")
  func silent() async {
    let bench = Bench()
    await bench.connect([:])
    for second in 1...5 {
      await eventually("second \(second)") { bench.clock.deadlines.contains(.seconds(second)) }
      #expect(bench.daemon.socket?.isClosed == false)
      bench.clock.jump(by: .seconds(second) - bench.clock.now)
      bench.clock.advanceToNext()
    }
    await eventually("the silent one is closed") { bench.daemon.socket?.isClosed == true }
    await eventually("it asks meanwhile") { bench.model.state == .live(.polling) }
  }

  @Test("a token that is refused: said so, and not tried again before another token is given")
  func token() async {
    let bench = Bench()
    bench.daemon.hasSocket = false
    bench.daemon.answer("/api/status", 401, #"{"ok":false,"code":"TOKEN_INVALID","message":"this token is not known"}"#)
    bench.model.start()
    await eventually("refused") {
      bench.model.state == .refused(Refusal(status: 401, code: "TOKEN_INVALID", message: "this token is not known"))
    }
    await eventually("nothing waits") { bench.clock.deadlines.isEmpty }
    #expect(bench.daemon.requests("/api/status").count == 1)
    bench.daemon.answer("/api/status", #"{"ok": true, "systems": {}}"#)
    bench.model.use(token: "another")
    await eventually("live") { bench.model.state == .live(.polling) }
  }

  @Test("an event that is not understood is told with its member; the state before stays")
  func wrong() async {
    let bench = Bench()
    await bench.connect(["pump": json(SampleStates.pump)])
    await eventually("a pump") { bench.model.pump != nil }
    bench.say("pump", #"{"state": 7}"#)
    await eventually("told") { bench.model.problem?.errorDescription?.contains("state") == true }
    #expect(bench.model.pump?.state == SampleStates.pump)
  }

  @Test("a word that this client does not know is kept as it came")
  func word() async {
    let bench = Bench()
    var state = SampleStates.pump
    state.state = "priming"
    await bench.connect(["pump": json(state)])
    await eventually("a pump") { bench.model.pump?.state.state.rawValue == "priming" }
    #expect(bench.model.problem == nil)
  }

  @Test("an emergency stop of everything is tried again until it is answered")
  func emergency() async throws {
    let bench = Bench()
    bench.daemon.answer("/api/e-stop") { _ throws(ClientError) in throw .unreachable("gone") }
    let stop = Task { try await bench.model.emergencyStop() }
    await eventually("a wait") { bench.clock.deadlines == [.seconds(0.75)] }
    bench.daemon.answer("/api/e-stop", #"{"ok": true, "systems": []}"#)
    bench.clock.advanceToNext()
    try await stop.value
    #expect(bench.daemon.requests("/api/e-stop").count == 2)
  }
}

/// Its WebSocket neither opens nor fails.
private struct BlockedTransport: Transport {
  let daemon: FakeDaemon

  func answer(to request: ClientRequest, token: String?) async throws(ClientError) -> ClientAnswer {
    try await daemon.answer(to: request, token: token)
  }

  func openSocket(token: String?) async throws(ClientError) -> any EventSocket {
    let never = AsyncStream<Never> { _ in }
    for await _ in never {}
    throw .unreachable("given up")
  }
}
