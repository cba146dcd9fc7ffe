import Dispatch
import Foundation
import HTTPTypes
import Logging
import ServiceSupport
import Synchronization
import Tactus
import TestSupport
import Testing

@testable import Service

private struct Amount: JSONReadable {
  let amount: Int
  init(_ body: inout JSONReader) throws(APIError) { amount = try body.required("amount", .integer(1...10)) }
}

private struct Mishap: Error { let secret = "hunter2" }

private let routes: [Route] = [
  Route(.post, "/api/fake/{name}/pour", scope: .control, action: "fake.pour") { request in
    let body = try request.decode(Amount.self)
    return .json(["poured": "\(body.amount) \(request.parameters["name"] ?? "")"], logValue: "amount=\(body.amount)")
  },
  Route(.put, "/api/fake/broken", action: "fake.break") { _ in throw Mishap() },
  Route(.get, "/api/fake/echo") { request in .json(request.query) },
]

@Suite("The service over a socket", .ownThread)
struct WebServiceTests {
  @Test("status: the state of every system, made anew when one has changed")
  func status() throws {
    let (robot, pump) = (FakeSystem("robot"), FakeSystem("pump"))
    let service = try RunningService(systems: [robot, pump])
    let client = try TestClient(port: service.port)
    let before = try client.request("GET", "/api/status")
    #expect(before.status == 200)
    #expect(before.headers["content-type"] == "application/json")
    #expect(
      before.text
        == #"{"ok":true,"version":"1.2.3","systems":{"robot":{"state":"driving"},"pump":{"state":"driving"}}}"#)
    pump.enter("fault")
    #expect(try client.request("GET", "/api/status").text.contains(#""pump":{"state":"fault"}"#))
  }

  @Test("every answer has a date: one that was prepared, a handler's, and a refusal before and behind the routes")
  func dates() throws {
    let service = try RunningService(systems: [FakeSystem("robot")])
    let client = try TestClient(port: service.port)
    let asked: [(method: String, path: String, headers: [String: String])] = [
      ("GET", "/api/status", [:]), ("GET", "/api/none", [:]), ("POST", "/api/e-stop", [:]),
      ("HEAD", "/api/status", [:]),
      ("GET", "/api/status", ["Host": "elsewhere.example"]),
    ]
    for (method, path, headers) in asked {
      let date = try client.request(method, path, headers: headers).headers["date"] ?? "no date"
      #expect(
        date.wholeMatch(of: /[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} 20\d\d \d\d:\d\d:\d\d GMT/) != nil,
        "\(method) \(path): \(date)")
    }
  }

  @Test("health: ok, then 503 while a loop does not tick, then ok")
  func health() throws {
    let service = try RunningService()
    let healthy = try service.request("GET", "/api/health")
    #expect(healthy.status == 200)
    #expect(
      healthy.text
        == #"{"guard":{"madeSafe":0,"replacements":0,"state":"none"},"ok":true,"status":"ok","systems":{"fake":"driving"},"version":"1.2.3"}"#
    )
    service.service.setStalled(true, loop: "robot.motors")
    let stalled = try service.request("GET", "/api/health")
    #expect(stalled.status == 503)
    #expect(stalled.json?["status"] as? String == "degraded")
    #expect(stalled.code == "STALLED")
    #expect(stalled.message == "not ticking: robot.motors")
    service.service.setStalled(false, loop: "robot.motors")
    #expect(try service.request("GET", "/api/health").status == 200)
  }

  @Test("health: degraded with 200 and the causes of what stops no loop; a loop that stops counts more")
  func degraded() throws {
    let service = try RunningService()
    service.service.setTroubles([
      ServiceTrouble(code: "STORE_FAILED", message: "the disk is full"),
      ServiceTrouble(code: "TOKENS_FAILED", message: "tokens.json: gone"),
    ])
    let degraded = try service.request("GET", "/api/health")
    #expect(degraded.status == 200 && degraded.json?["status"] as? String == "degraded")
    #expect(degraded.code == "STORE_FAILED" && degraded.message == "the disk is full; tokens.json: gone")
    service.service.setStalled(true, loop: "robot.motors")
    let stalled = try service.request("GET", "/api/health")
    #expect(stalled.status == 503 && stalled.code == "STALLED")
    service.service.setStalled(false, loop: "robot.motors")
    service.service.setTroubles([])
    #expect(try service.request("GET", "/api/health").json?["status"] as? String == "ok")
  }

  @Test("health: ok with warnings of what lies outside the daemon; absent without, and beside what degrades it")
  func warnings() throws {
    let service = try RunningService()
    func warnings() throws -> [[String: String]]? {
      try service.request("GET", "/api/health").json?["warnings"] as? [[String: String]]
    }
    #expect(try warnings() == nil)
    let gone = ServiceTrouble(code: "BROKER_GONE", message: "no broker", isOutside: true)
    service.service.setTroubles([gone])
    let well = try service.request("GET", "/api/health")
    #expect(well.status == 200 && well.json?["status"] as? String == "ok" && well.code == nil)
    #expect(try warnings() == [["code": "BROKER_GONE", "message": "no broker"]])
    service.service.setTroubles([gone, ServiceTrouble(code: "STORE_FAILED", message: "the disk is full")])
    let degraded = try service.request("GET", "/api/health")
    #expect(degraded.code == "STORE_FAILED" && degraded.message == "the disk is full")
    #expect(try warnings()?.count == 1)
  }

  @Test("health: asked again and again between two beats, the systems' states are written once")
  func healthIsPrepared() throws {
    let robot = FakeSystem("robot")
    let service = try RunningService(systems: [robot])
    service.service.beat(at: .zero)
    for _ in 0..<100 { #expect(try service.request("GET", "/api/health").status == 200) }
    #expect(robot.statesWritten <= 1)
    robot.enter("stopped")
    service.service.beat(at: TickInstant(nanoseconds: 100_000_000))
    let states = try service.request("GET", "/api/health").json?["systems"] as? [String: String]
    #expect(states == ["robot": "stopped"])
  }

  @Test("health: degraded with 200 from a guard's loss until another watches, with how often that was")
  func guardLost() throws {
    let guardHealth = GuardHealth(.watching)
    let service = try RunningService(guardHealth: guardHealth)
    func report() throws -> [String: Any]? {
      try service.request("GET", "/api/health").json?["guard"] as? [String: Any]
    }
    #expect(try report()?["state"] as? String == "watching")
    guardHealth.lose()
    let lost = try service.request("GET", "/api/health")
    #expect(lost.status == 200 && lost.json?["status"] as? String == "degraded" && lost.code == "GUARD_LOST")
    #expect(try report()?["state"] as? String == "replacing" && report()?["replacements"] as? Int == 0)
    guardHealth.replace()
    #expect(try service.request("GET", "/api/health").json?["status"] as? String == "ok")
    #expect(try report()?["state"] as? String == "watching" && report()?["replacements"] as? Int == 1)
  }

  @Test("health: degraded with 200 while so few file descriptors are left that they are kept for those who can stop")
  func fewDescriptors() throws {
    var limits = ConnectionLimits()
    // Whatever number a connection has, it is one of the last.
    limits.descriptors = 0
    let service = try RunningService(limits: limits)
    let degraded = try service.request("GET", "/api/health")
    #expect(degraded.status == 200 && degraded.json?["status"] as? String == "degraded")
    #expect(degraded.code == "FEW_DESCRIPTORS")
  }

  @Test("e-stop and reset: every system is asked, the answer names them, each leaves a line")
  func emergencyStop() throws {
    let (robot, pump) = (FakeSystem("robot"), FakeSystem("pump"))
    let service = try RunningService(systems: [robot, pump])
    let reply = try service.request("POST", "/api/e-stop")
    #expect(reply.status == 200)
    #expect(reply.text == #"{"ok":true,"systems":["robot","pump"]}"#)
    #expect(try service.request("POST", "/api/reset").status == 200)
    #expect(robot.asked == .init(stops: 1, resets: 1))
    #expect(pump.asked == .init(stops: 1, resets: 1))
    let lines = service.log.lines.filter { $0.message == "action" }.map(\.metadata)
    let caller = "127.0.0.1"
    #expect(
      lines == [
        ["system": "all", "action": "e-stop", "value": "robot pump", "caller": caller, "result": "ok"],
        ["system": "all", "action": "reset", "value": "robot pump", "caller": caller, "result": "ok"],
      ])
  }

  @Test("e-stop: one system that fails does not keep the other from stopping, and is named")
  func emergencyStopFails() throws {
    let deaf = FakeSystem("deaf", stopError: APIError(.serviceUnavailable, "NOT_TAKEN", "no answer"))
    let robot = FakeSystem("robot")
    let service = try RunningService(systems: [deaf, robot])
    let reply = try service.request("POST", "/api/e-stop")
    #expect(reply.status == 503)
    #expect(reply.code == "NOT_TAKEN")
    #expect(reply.message == "e-stop failed for deaf: no answer")
    #expect(robot.asked.stops == 1)
    #expect(service.log.lines.last?.metadata["result"] == "NOT_TAKEN")
  }

  @Test("an action: parameters, body and log line")
  func action() throws {
    let service = try RunningService(routes: routes)
    let reply = try service.request("POST", "/api/fake/a%20b/pour", body: #"{"amount":3}"#)
    #expect(reply.status == 200)
    #expect(reply.text == #"{"poured":"3 a b"}"#)
    #expect(service.log.lines.last?.metadata["value"] == "amount=3")
    let refused = try service.request("POST", "/api/fake/x/pour", body: #"{"amount":30}"#)
    #expect(refused.status == 422)
    #expect(refused.json?["field"] as? String == "amount")
    #expect(service.log.lines.last?.metadata["result"] == "VALIDATION")
  }

  @Test(
    "a body that is wrong is refused by what is wrong with it",
    arguments: [
      (#"{"amount":3,}"#, 400, "BAD_JSON"), (#"{"amount":3,"colour":"red"}"#, 422, "VALIDATION"),
      ("", 400, "BODY_MISSING"),
    ])
  func bodies(body: String, status: Int, code: String) throws {
    let service = try RunningService(routes: routes)
    let reply = try service.request("POST", "/api/fake/x/pour", body: body)
    #expect(reply.status == status)
    #expect(reply.code == code)
    #expect(reply.json?["ok"] as? Bool == false)
  }

  @Test("a body of another type: 415; with a charset or without a type it is taken for JSON")
  func contentTypes() throws {
    let service = try RunningService(routes: routes)
    let client = try TestClient(port: service.port)
    let form = try client.request(
      "POST", "/api/fake/x/pour", headers: ["Content-Type": "application/x-www-form-urlencoded"], body: #"{"amount":3}"#
    )
    #expect(form.status == 415)
    #expect(form.code == "UNSUPPORTED_MEDIA_TYPE")
    let charset = try client.request(
      "POST", "/api/fake/x/pour", headers: ["Content-Type": "application/json; charset=utf-8"], body: #"{"amount":3}"#)
    #expect(charset.status == 200)
    client.send("POST /api/fake/x/pour HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\n{\"amount\":3}")
    #expect(try client.reply().status == 200)
  }

  @Test("2 MB, announced: 413 before a byte of it is taken, and the connection is closed")
  func tooLarge() throws {
    let service = try RunningService(routes: routes)
    let client = try TestClient(port: service.port)
    client.send(
      "POST /api/fake/x/pour HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2097152\r\n\r\n")
    let reply = try client.reply()
    #expect(reply.status == 413)
    #expect(reply.code == "TOO_LARGE")
    client.send([UInt8](repeating: 0x20, count: 2_097_152))
    #expect(try client.isClosed())
  }

  @Test("2 MB in chunks: 413 after the first, and the connection is closed")
  func tooLargeInChunks() throws {
    let service = try RunningService(routes: routes)
    let client = try TestClient(port: service.port)
    client.send(
      "POST /api/fake/x/pour HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    let chunk = Array("10000\r\n".utf8) + [UInt8](repeating: 0x20, count: 65536) + Array("\r\n".utf8)
    for _ in 0..<32 where !client.send(chunk) { break }
    #expect(try client.reply().code == "TOO_LARGE")
    #expect(try client.isClosed())
  }

  @Test("a client that waits for a go-ahead gets it, and none for a body that is too long")
  func expectContinue() throws {
    let service = try RunningService(routes: routes)
    let client = try TestClient(port: service.port)
    client.send(
      "POST /api/fake/x/pour HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 12\r\n\r\n")
    #expect(try client.reply().status == 100)
    client.send("{\"amount\":3}")
    #expect(try client.reply().status == 200)
    client.send(
      "POST /api/fake/x/pour HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2097152\r\n\r\n")
    #expect(try client.reply().status == 413)
  }

  @Test("an unknown route: 404; a wrong method: 405 with those that are right; HEAD: GET without its body")
  func methods() throws {
    let service = try RunningService(routes: routes)
    let client = try TestClient(port: service.port)
    for path in ["/nothing", "/api", "/api/status/", "/api//status", "/API/status", "/api/fake//pour"] {
      let reply = try client.request("GET", path)
      #expect(reply.status == 404, "\(path)")
      #expect(reply.code == "NOT_FOUND")
    }
    for method in ["POST", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
      let reply = try client.request(method, "/api/status")
      #expect(reply.status == 405, "\(method)")
      #expect(reply.headers["allow"] == "GET, HEAD")
    }
    #expect(try client.request("GET", "/api/e-stop").headers["allow"] == "POST")
    let head = try client.request("HEAD", "/api/status")
    #expect(head.status == 200)
    #expect(head.headers["content-length"] == String(try client.request("GET", "/api/status").body.count))
  }

  @Test(
    "traversal over the wire: refused, and nothing of a file",
    arguments: ["/../../etc/passwd", "/api/%2e%2e/%2e%2e/etc/passwd", "/api/fake/..%2f..%2fetc%2fpasswd/pour"])
  func traversal(path: String) throws {
    let service = try RunningService(routes: routes)
    let reply = try service.request("GET", path)
    #expect(reply.status == 400)
    #expect(reply.code == "BAD_PATH")
  }

  @Test("a token in the query: refused, and in no line of the log")
  func tokenInQuery() throws {
    let service = try RunningService(routes: routes)
    let reply = try service.request("POST", "/api/fake/x/pour?token=hunter2", body: #"{"amount":3}"#)
    #expect(reply.status == 400)
    #expect(reply.code == "TOKEN_IN_QUERY")
    #expect(!reply.text.contains("hunter2"))
    #expect(!service.log.lines.contains { "\($0)".contains("hunter2") })
  }

  @Test("a query reaches its handler and never the log")
  func query() throws {
    let service = try RunningService(routes: routes)
    #expect(try service.request("GET", "/api/fake/echo?since=4&name=a+b").text == #"{"name":"a b","since":"4"}"#)
    #expect(!service.log.lines.contains { "\($0)".contains("since") })
  }

  @Test("a handler that fails: 500 without the reason, which is in the log")
  func mishap() throws {
    let service = try RunningService(routes: routes)
    let client = try TestClient(port: service.port)
    let reply = try client.request("PUT", "/api/fake/broken")
    #expect(reply.status == 500)
    #expect(reply.code == "INTERNAL")
    #expect(!reply.text.contains("hunter2"))
    let line = service.log.lines.first { $0.level == .error }
    #expect(line?.metadata["route"] == "PUT /api/fake/broken")
    #expect(line?.metadata["reason"]?.contains("Mishap") == true)
    #expect(try client.request("GET", "/api/status").status == 200)
  }

  @Test("other origins: no CORS fields, unless the configuration names them")
  func crossOrigin() throws {
    let service = try RunningService(routes: routes, allowedOrigins: ["https://panel.example"])
    let client = try TestClient(port: service.port)
    let preflight = ["Origin": "https://panel.example", "Access-Control-Request-Method": "POST"]
    let allowed = try client.request("OPTIONS", "/api/e-stop", headers: preflight)
    #expect(allowed.status == 204)
    #expect(allowed.headers["access-control-allow-origin"] == "https://panel.example")
    #expect(allowed.headers["access-control-allow-methods"] == "POST")
    let read = try client.request("GET", "/api/health", headers: ["Origin": "https://panel.example"])
    #expect(read.headers["access-control-allow-origin"] == "https://panel.example")
    let other = ["Origin": "https://evil.example", "Access-Control-Request-Method": "POST"]
    let refused = try client.request("OPTIONS", "/api/e-stop", headers: other)
    #expect(refused.status == 405 || refused.status == 403)
    #expect(refused.headers["access-control-allow-origin"] == nil)
  }

  @Test("beats: a second is full when the instants say so, however many beats came")
  func beats() throws {
    let system = FakeSystem()
    let service = try RunningService(systems: [system])
    for milliseconds in [950, 1050, 1150, 1950, 3999, 4000, 4001] {
      service.service.beat(at: TickInstant(nanoseconds: Int64(milliseconds) * 1_000_000))
    }
    #expect(system.asked.beats == [true, true, false, false, true, true, false])
  }

  @Test("a port that is taken: an error with address, port and reason; nothing is left behind")
  func busy() throws {
    let first = try RunningService()
    let second = WebService(
      configuration: ServiceConfiguration(port: first.port, version: "1"), accessControl: try .open(), systems: [],
      routes: [],
      logger: first.log.logger)
    #expect(
      throws: ServiceStartError.portInUse(address: "127.0.0.1", port: first.port)
    ) { try second.start() }
    #expect(second.endpoint == nil)
    second.stop()
    #expect(try first.request("GET", "/api/health").status == 200)
  }

  @Test("bound: the port is there and nobody is served; started: who waited is served")
  func boundThenStarted() throws {
    let service = WebService(
      configuration: ServiceConfiguration(port: 0, version: "1"), accessControl: try .open(), systems: [], routes: [],
      logger: RecordingLog().logger)
    try service.bind()
    defer { service.stop() }
    let client = try TestClient(port: try #require(service.endpoint).port)
    client.send("POST /api/e-stop HTTP/1.1\r\nHost: x\r\n\r\n")
    try service.start()
    #expect(try client.reply().status == 200)
  }

  @Test("stop: the port refuses, a WebSocket is told, and nobody holds it up who hangs or never answers")
  func stop() throws {
    let (stream, release) = AsyncStream.makeStream(of: Never.self)
    defer { release.finish() }
    let never = Route(.get, "/api/never") { _ in
      for await _ in stream {}
      return .json(["ok": true])
    }
    let service = try RunningService(routes: [never])
    let hanging = try TestClient(port: service.port)
    hanging.send("POST /api/e-stop HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n")
    let waiting = try TestClient(port: service.port)
    waiting.send("GET /api/never HTTP/1.1\r\nHost: x\r\n\r\n")
    let listening = try WebSocketTestClient(port: Int(service.port))
    #expect(listening.next("hello") != nil)
    let idle = try TestClient(port: service.port)
    #expect(try idle.request("GET", "/api/health").status == 200)
    service.service.stop()
    #expect(service.service.endpoint == nil)
    #expect(try hanging.isClosed())
    #expect(try waiting.isClosed())
    #expect(try idle.isClosed())
    let farewell = listening.nextClose()
    #expect(farewell?.closeCode == 1001)
    #expect(farewell?.closeReason == "the daemon stops")
    #expect(throws: TestClient.Failure(call: "connect: Connection refused")) { try TestClient(port: service.port) }
  }

  @Test("stop: needs none of the threads that tasks share")
  func stopWithoutTasks() throws {
    let service = try RunningService()
    let client = try WebSocketTestClient(port: Int(service.port))
    #expect(client.next("hello") != nil)
    // More tasks than there are threads: what is asked of them waits behind these until the service has stopped.
    let (held, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let gaveUp = DispatchSemaphore(value: 0)
    let count = ProcessInfo.processInfo.activeProcessorCount + 64
    for _ in 0..<count {
      Task.detached {
        held.signal()
        guard !hold(until: end) else { return }
        gaveUp.signal()
        for _ in 0..<count { end.signal() }
      }
    }
    held.wait()
    service.service.stop()
    #expect(gaveUp.wait(timeout: .now()) == .timedOut, "it waited for a thread of the pool")
    for _ in 0..<count { end.signal() }
    #expect(client.nextClose()?.closeCode == 1001)
    #expect(throws: TestClient.Failure(call: "connect: Connection refused")) { try TestClient(port: service.port) }
  }
}

/// A task must not wait so; here it is to. False: in vain.
private func hold(until end: DispatchSemaphore) -> Bool {
  end.wait(timeout: .now() + .milliseconds(Int(patience))) == .success
}
