import Foundation
import TestSupport
import Testing

@testable import Service

@Suite("The door's connections, on sockets", .ownThread)
struct ServiceChannelTests {
  static let get = "GET /api/status HTTP/1.1\r\nHost: localhost\r\n\r\n"

  @Test("prepared document: answered without the responder, again and again on one connection")
  func prepared() throws {
    try TestDoor.with { door in
      let client = try RawSocket(port: door.port)
      for _ in 0..<3 {
        client.send(ServiceChannelTests.get)
        let answer = try #require(client.takeAnswer())
        #expect(answer.status == 200)
        #expect(answer.body == #"{"ok":true}"#)
        for field in [
          "x-content-type-options: nosniff", "cache-control: no-store", "referrer-policy: no-referrer",
          "x-frame-options: deny",
        ] {
          #expect(answer.head.contains("\r\n\(field)\r\n"))
        }
        #expect(!answer.head.contains("connection:"))
      }
      #expect(door.counters.prepared.value == 3)
    }
  }

  @Test("HEAD: the length of the document and not its bytes")
  func head() throws {
    try TestDoor.with { door in
      let client = try RawSocket(port: door.port)
      client.send("HEAD /api/status HTTP/1.1\r\nHost: localhost\r\n\r\n" + ServiceChannelTests.get)
      #expect(try #require(client.takeAnswer(toHead: true)).head.contains("content-length: 11\r\n"))
      #expect(client.takeAnswer()?.body == #"{"ok":true}"#)
    }
  }

  @Test(
    "last request: Connection: close and HTTP/1.0 end the connection, also with bytes behind them",
    arguments: [
      "GET /api/status HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET /api/status HTTP/1.0\r\n\r\n",
    ])
  func last(request: String) throws {
    try TestDoor.with { door in
      door.release()
      for path in ["/api/status", "/other"] {
        let client = try RawSocket(port: door.port)
        client.send(request.replacingOccurrences(of: "/api/status", with: path) + ServiceChannelTests.get)
        #expect(try #require(client.takeAnswer()).head.contains("\r\nconnection: close\r\n"))
        #expect(client.ends())
      }
    }
  }

  @Test("HTTP/1.0 with keep-alive: answered so, and stays open")
  func keepAlive() throws {
    try TestDoor.with { door in
      door.release()
      let client = try RawSocket(port: door.port)
      for path in ["/api/status", "/other", "/api/status"] {
        client.send("GET \(path) HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        #expect(try #require(client.takeAnswer()).head.contains("\r\nconnection: keep-alive\r\n"))
      }
    }
  }

  @Test(
    "an answer without a length to HTTP/1.0, also with keep-alive: no chunks; the end of the connection is its end",
    arguments: ["", "Connection: keep-alive\r\n", "Expect: 100-continue\r\n"])
  func oldStream(fields: String) throws {
    try TestDoor.with { door in
      door.release()
      let client = try RawSocket(port: door.port)
      // What comes behind it is not answered.
      client.send("GET /stream HTTP/1.0\r\n\(fields)\r\n" + ServiceChannelTests.get)
      let head = try #require(client.takeHead()).lowercased()
      #expect(head.hasPrefix("http/1.0 200 ") && head.contains("\r\nconnection: close\r\n"))
      #expect(!head.contains("transfer-encoding") && !head.contains("keep-alive"))
      #expect(client.take(12).map { String(decoding: $0, as: UTF8.self) } == "slow /stream")
      #expect(client.ends())
    }
  }

  @Test("an answer without a length to HTTP/1.0's HEAD: its head, no chunks announced; to HTTP/1.1: chunks")
  func oldStreamHead() throws {
    try TestDoor.with { door in
      door.release()
      let client = try RawSocket(port: door.port)
      client.send("HEAD /stream HTTP/1.0\r\n\r\n")
      #expect(try #require(client.takeHead()).lowercased().contains("transfer-encoding") == false)
      #expect(client.ends())
      let new = try RawSocket(port: door.port)
      new.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n" + ServiceChannelTests.get)
      #expect(try #require(new.takeHead()).lowercased().contains("\r\ntransfer-encoding: chunked\r\n"))
      #expect(new.take(22).map { String(decoding: $0, as: UTF8.self) } == "c\r\nslow /stream\r\n0\r\n\r\n")
      #expect(new.takeAnswer()?.status == 200)
    }
  }

  @Test("pipelined requests: answered in their order, a prepared one not before the slow one ahead of it")
  func pipelined() throws {
    try TestDoor.with { door in
      let client = try RawSocket(port: door.port)
      client.send(
        ServiceChannelTests.get + "GET /one HTTP/1.1\r\nHost: a\r\n\r\n" + ServiceChannelTests.get
          + "POST /two HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
      #expect(client.takeAnswer()?.body == #"{"ok":true}"#)
      door.release()
      for body in ["slow /one", #"{"ok":true}"#, "slow /two"] {
        let answer = try #require(client.takeAnswer())
        #expect(answer.body == body)
        #expect(answer.head.contains("\r\nreferrer-policy: no-referrer\r\n"))
      }
      client.send(ServiceChannelTests.get)
      #expect(client.takeAnswer()?.body == #"{"ok":true}"#)
    }
  }

  @Test("garbage behind a request that is still being answered: the answer first, then 400, then the end")
  func garbageBehind() throws {
    try TestDoor.with { door in
      let client = try RawSocket(port: door.port)
      client.send("GET /one HTTP/1.1\r\nHost: a\r\n\r\n\u{1}\u{2}garbage\r\n\r\n")
      door.release()
      #expect(client.takeAnswer()?.body == "slow /one")
      let answer = try #require(client.takeAnswer())
      #expect(answer.status == 400 && answer.body.contains(#""code":"BAD_REQUEST""#))
      #expect(client.ends())
    }
  }

  @Test(
    "no HTTP: 400 in JSON, then the end",
    arguments: [
      "HELLO\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\nConnection: close\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
    ])
  func malformed(bytes: String) throws {
    try TestDoor.with { door in
      let client = try RawSocket(port: door.port)
      client.send(bytes)
      let answer = try #require(client.takeAnswer())
      #expect(answer.status == 400)
      #expect(answer.body.hasPrefix(#"{"code":"BAD_REQUEST","message":""#))
      #expect(answer.head.contains("\r\nx-content-type-options: nosniff\r\n"))
    }
  }

  @Test("header flood: 65 fields, a long field, many long fields, a long target: 431, then the end")
  func headerFlood() throws {
    let long = String(repeating: "x", count: 5000)
    let floods = [
      (0..<65).map { "f\($0): 1\r\n" }.joined(), "f: \(long)\(long)\r\n",
      (0..<4).map { "f\($0): \(long)\r\n" }.joined(),
    ]
    let requests =
      floods.map { "GET / HTTP/1.1\r\nHost: a\r\n\($0)\r\n" } + ["GET /\(long)\(long) HTTP/1.1\r\nHost: a\r\n\r\n"]
    try TestDoor.with { door in
      for request in requests {
        let client = try RawSocket(port: door.port)
        client.send(request)
        let answer = try #require(client.takeAnswer())
        #expect(answer.status == 431 && answer.body.contains(#""code":"HEADERS_TOO_LARGE""#))
        #expect(client.ends())
      }
    }
  }

  @Test("more connections with a token than there may be: 503, and room again when one leaves")
  func full() throws {
    let limits = ConnectionLimits(connections: 2)
    try TestDoor.with(limits: limits) { door in
      var clients = try (0..<2).map { _ in try RawSocket(port: door.port) }
      for client in clients {
        client.send(ServiceChannelTests.get)
        #expect(client.takeAnswer()?.status == 200)
      }
      let third = try RawSocket(port: door.port)
      third.send(ServiceChannelTests.get)
      let answer = try #require(third.takeAnswer())
      #expect(answer.status == 503 && answer.head.contains("retry-after: 1"))
      #expect(answer.body.contains(#""code":"TOO_MANY_CONNECTIONS""#))
      #expect(door.counters.connectionsRefused.value == 1)
      clients.removeLast()
      var status: Int?
      for _ in 0..<1000 where status != 200 {
        third.send(ServiceChannelTests.get)
        status = third.takeAnswer()?.status
      }
      #expect(status == 200)
    }
  }

  @Test("silent connections beyond strangers' places: the oldest is closed, and whoever asks is answered")
  func silent() throws {
    try TestDoor.with(limits: ConnectionLimits(connections: 2)) { door in
      let silent = try (0..<40).map { _ in try RawSocket(port: door.port) }
      let client = try RawSocket(port: door.port)
      var status: Int?
      for _ in 0..<1000 where door.counters.connectionsEvicted.value < 32 {
        client.send(ServiceChannelTests.get)
        status = client.takeAnswer()?.status
      }
      #expect(status == 200)
      #expect(door.counters.connectionsEvicted.value >= 32 && silent.count == 40)
    }
  }

  @Test("refused by the access control: its error, and the connection stays open")
  func refused() throws {
    try TestDoor.with { door in
      let client = try RawSocket(port: door.port)
      client.send(
        "GET /api/status HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer wrong\r\n\r\n" + ServiceChannelTests.get)
      #expect(client.takeAnswer()?.status == 401)
      #expect(client.takeAnswer()?.status == 200)
    }
  }

  @Test("/ws without an upgrade: 426; another method: 405; a wrong key: 400; a wrong token: 401")
  func webSocketRefused() throws {
    try TestDoor.with { door in
      let request = WebSocketTestClient.request()
      let cases = [
        ("GET /ws HTTP/1.1\r\nHost: a\r\n\r\n", 426), ("POST /ws HTTP/1.1\r\nHost: a\r\n\r\n", 405),
        (request.replacingOccurrences(of: WebSocketTestClient.key, with: "short"), 400),
        (request.replacingOccurrences(of: "Version: 13", with: "Version: 8"), 426),
        (WebSocketTestClient.request(["Authorization: Bearer wrong"]), 401),
      ]
      for (request, status) in cases {
        let client = try RawSocket(port: door.port)
        client.send(request)
        #expect(client.takeAnswer()?.status == status)
      }
    }
  }
}
