import ServiceSupport
import Synchronization
import Tactus
import TestSupport
import Testing

@testable import Service

@Suite("When a request arrived", .ownThread)
struct ArrivalTests {
  @Test("a request that comes with the end of the one before has arrived then, and that one with its head")
  func behindABody() throws {
    let arrivals = Mutex<[TickInstant?]>([])
    let route = Route(.post, "/api/fake/go", scope: .control, action: "fake.go") { request in
      arrivals.withLock { $0.append(request.caller.arrived) }
      return .json(["ok": true])
    }
    let service = try RunningService(systems: [FakeSystem(routes: [route])])
    let client = try RawSocket(port: Int(service.port))
    let head = "POST /api/fake/go HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
    client.send(head + "Expect: 100-continue\r\n\r\n")
    #expect(try #require(client.takeHead()).hasPrefix("HTTP/1.1 100 "))
    let between = MonotonicClock.now
    client.send("{}" + head + "\r\n{}")
    for _ in 0..<2 { #expect(client.takeAnswer()?.status == 200) }
    let found = arrivals.withLock { $0.compactMap(\.self) }
    try #require(found.count == 2)
    #expect(found[0] < between && between <= found[1])
  }

  @Test("requests of one packet: both arrived when it was read, though the second waits for the first")
  func onePacket() throws {
    let arrivals = Mutex<[TickInstant?]>([])
    let route = Route(.post, "/api/fake/go", scope: .control, action: "fake.go") { request in
      arrivals.withLock { $0.append(request.caller.arrived) }
      return .json(["ok": true])
    }
    let service = try RunningService(systems: [FakeSystem(routes: [route])])
    let client = try RawSocket(port: Int(service.port))
    let before = MonotonicClock.now
    let request = "POST /api/fake/go HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"
    client.send(request + request)
    for _ in 0..<2 { #expect(client.takeAnswer()?.status == 200) }
    client.send(request)
    #expect(client.takeAnswer()?.status == 200)
    let found = arrivals.withLock { $0.compactMap(\.self) }
    try #require(found.count == 3)
    #expect(before <= found[0] && found[0] == found[1] && found[1] < found[2])
  }
}
