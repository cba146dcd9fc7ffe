import Foundation
import Tactus
import TestSupport
import Testing

@testable import Service

@Suite("WebSocket, on sockets", .ownThread)
struct WebSocketTests {
  let robot = NotingSystem()

  static func event(
    _ kind: Event.Kind, _ type: String = "edge", system: String = "robot", ms: Int64 = 0, body: String = "{}"
  )
    -> Event
  {
    Event(kind, type: type, system: system, at: TickInstant(nanoseconds: ms * 1_000_000), body: Array(body.utf8))
  }

  @Test("handshake: 101 with the key's answer (RFC 6455 §1.3), events.v1 answered, the token never")
  func handshake() throws {
    try TestDoor.with(systems: [robot]) { door in
      let client = try WebSocketTestClient(
        port: door.port, fields: ["Sec-WebSocket-Protocol: events.v1, bearer.read"])
      #expect(client.head.hasPrefix("http/1.1 101 "))
      #expect(client.head.contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=\r\n"))
      #expect(client.head.contains("sec-websocket-protocol: events.v1\r\n"))
      #expect(!client.head.contains("bearer") && !client.head.contains("extensions"))
      let plain = try WebSocketTestClient(port: door.port)
      #expect(!plain.head.contains("sec-websocket-protocol"))
    }
  }

  @Test("on connect: hello, then the state of every system; then edges with one number more each")
  func snapshot() throws {
    let pump = NotingSystem("pump")
    try TestDoor.with(systems: [robot, pump]) { door in
      door.hub.publish([
        WebSocketTests.event(.edge), WebSocketTests.event(.state, "state"), WebSocketTests.event(.telemetry),
      ])
      let client = try WebSocketTestClient(port: door.port, fields: ["Authorization: Bearer read"])
      let hello = try #require(client.next())
      let start = #"{"type":"hello","system":"daemon","seq":2,"monotonicNs":5,"client":2147483648,"scope":"read","#
      #expect(hello.text == start + #""systems":["robot","pump"],"version":"1.2.3"}"#)
      #expect(client.next()?.text == #"{"type":"state","system":"robot","seq":2,"monotonicNs":5,"mode":"idle"}"#)
      #expect(client.next()?.json["system"] as? String == "pump")
      door.hub.publish([WebSocketTests.event(.telemetry), WebSocketTests.event(.edge, ms: 3, body: #"{"a":1}"#)])
      #expect(client.next()?.text == #"{"type":"edge","system":"robot","seq":3,"monotonicNs":3000000,"a":1}"#)
      let second = try WebSocketTestClient(port: door.port)
      #expect(second.next()?.json["client"] as? Int == 0x8000_0001)
    }
  }

  @Test("telemetry: only to who subscribed, at the rate asked for; ends with unsubscribe")
  func telemetry() throws {
    try TestDoor.with(systems: [robot]) { door in
      let client = try WebSocketTestClient(port: door.port)
      client.say(#"{"type":"subscribe","systems":["robot"],"rateHz":3,"id":"a"}"#)
      let ack = try #require(client.next("ack"))
      #expect(ack.json["id"] as? String == "a" && ack.json["action"] as? String == "subscribe")
      for beat in 0..<20 { door.hub.publish([WebSocketTests.event(.telemetry, "telemetry", ms: Int64(beat) * 100)]) }
      door.hub.publish([WebSocketTests.event(.edge)])
      var times: [Int] = []
      while let event = client.next(), event.type == "telemetry" {
        times.append((event.json["monotonicNs"] as? Int ?? 0) / 1_000_000)
      }
      #expect(times == [0, 300, 600, 1000, 1300, 1600])
      client.say(#"{"type":"unsubscribe"}"#)
      #expect(client.next("ack") != nil)
      door.hub.publish([WebSocketTests.event(.telemetry, "telemetry", ms: 9000), WebSocketTests.event(.edge)])
      #expect(client.next()?.type == "edge")
    }
  }

  @Test("messages that are wrong: an error event that says what, and the connection stays")
  func wrongMessages() throws {
    try TestDoor.with(systems: [robot]) { door in
      let client = try WebSocketTestClient(port: door.port)
      let cases = [
        ("nonsense", "BAD_JSON"), ("[]", "VALIDATION"), (#"{"id":1}"#, "VALIDATION"),
        (#"{"type":"dance","id":1}"#, "VALIDATION"), (#"{"type":"subscribe","rateHz":11}"#, "VALIDATION"),
        (#"{"type":"subscribe","systems":["leg"]}"#, "VALIDATION"), (#"{"type":"ping","id":1.5}"#, "VALIDATION"),
      ]
      for (text, code) in cases {
        client.say(text)
        #expect(client.next("error")?.json["code"] as? String == code, "\(text)")
      }
      client.say(#"{"type":"ping","id":42}"#)
      let pong = try #require(client.next("pong"))
      #expect(pong.json["id"] as? Int == 42 && pong.json["monotonicNs"] as? Int == 5)
      client.say(#"{"type":"ping","id":43.0}"#)
      #expect(client.next("pong")?.json["id"] as? Int == 43)
    }
  }

  @Test("binary frames: to the first system that takes them, its reply back; refused and unknown ones are told")
  func binary() throws {
    try TestDoor.with(systems: [robot]) { door in
      let client = try WebSocketTestClient(port: door.port)
      client.send(2, [1, 9])
      var frame = client.next()
      while let other = frame, other.opcode != 2 { frame = client.next() }
      #expect(frame?.bytes == [1, 9, 1, 9])
      client.send(2, [2])
      #expect(client.next("error")?.json["code"] as? String == "BUSY")
      client.send(2, [3])
      #expect(client.next("error")?.json["code"] as? String == "FRAME_UNKNOWN")
      #expect(robot.seen.withLock { $0.frames } == [[1, 9], [2]])
      #expect(robot.seen.withLock { $0.clients } == [0x8000_0000, 0x8000_0000])
    }
  }

  @Test("scope read: no frames, no e-stop, no reset")
  func readOnly() throws {
    try TestDoor.with(systems: [robot]) { door in
      let client = try WebSocketTestClient(port: door.port, fields: ["Authorization: Bearer read"])
      client.send(2, [1])
      #expect(client.next("error")?.json["code"] as? String == "SCOPE_DENIED")
      for type in ["e-stop", "reset"] {
        client.say(#"{"type":"\#(type)","id":1}"#)
        #expect(client.next("error")?.json["code"] as? String == "SCOPE_DENIED")
      }
      #expect(robot.seen.withLock { $0.frames.count + $0.stops + $0.resets } == 0)
    }
  }

  @Test("e-stop: every system, also when one refuses, which is told; reset: acknowledged")
  func emergencyStop() throws {
    let other = NotingSystem("pump", refuses: .conflict("BUSY", "not now"))
    try TestDoor.with(systems: [other, robot]) { door in
      let client = try WebSocketTestClient(port: door.port, fields: ["Authorization: Bearer control"])
      client.say(#"{"type":"e-stop","id":3}"#)
      let error = try #require(client.next("error"))
      #expect(error.json["id"] as? Int == 3 && error.json["code"] as? String == "BUSY")
      #expect(robot.seen.withLock { $0.stops } == 1)
      client.say(#"{"type":"reset","id":4}"#)
      let ack = try #require(client.next("ack"))
      #expect(ack.json["id"] as? Int == 4 && ack.json["action"] as? String == "reset")
    }
  }

  @Test("e-stop and reset of named systems: these alone; a reset of an unknown name, or of none, is refused")
  func emergencyStopOfSome() throws {
    let pump = NotingSystem("pump")
    try TestDoor.with(systems: [pump, robot]) { door in
      let client = try WebSocketTestClient(port: door.port, fields: ["Authorization: Bearer control"])
      client.say(#"{"type":"e-stop","id":3,"systems":["robot"]}"#)
      let ack = try #require(client.next("ack"))
      #expect(ack.json["id"] as? Int == 3 && ack.json["systems"] as? [String] == ["robot"])
      client.say(#"{"type":"reset","id":4,"systems":["robot","fan"]}"#)
      let unknown = try #require(client.next("error"))
      #expect(unknown.json["code"] as? String == "VALIDATION" && unknown.json["field"] as? String == "systems[1]")
      client.say(#"{"type":"reset","id":5,"systems":[]}"#)
      #expect(try #require(client.next("error")).json["field"] as? String == "systems")
      client.say(#"{"type":"reset","id":6,"systems":["pump"]}"#)
      #expect(try #require(client.next("ack")).json["id"] as? Int == 6)
      #expect(robot.seen.withLock { $0.stops == 1 && $0.resets == 0 })
      #expect(pump.seen.withLock { $0.stops == 0 && $0.resets == 1 })
    }
  }

  /// The members of an e-stop, and what its answer names; `nil` if it stops no more than it says.
  static let stops: [(String, String?)] = [
    (#""id":3,"systems":["robto"]"#, "robto"), (#""id":3,"systems":["robot","robto"]"#, "robto"),
    (#""id":3,"systems":[]"#, "none"), (#""id":3,"systems":"robot""#, "robot"), (#""id":3,"systems":[7]"#, "7"),
    (#""id":3,"systems":{"robot":true}"#, "an object"), (#""id":3,"systems":["robot"],"rateHz":"x""#, nil),
    (#""id":[3],"systems":["robto"]"#, "robto"),
  ]

  @Test(
    "e-stop whose systems are not known, none, or no list of names: everything is stopped, and its answer says why",
    arguments: stops)
  func emergencyStopUnreadable(members: String, named: String?) throws {
    let pump = NotingSystem("pump")
    try TestDoor.with(systems: [pump, robot]) { door in
      let client = try WebSocketTestClient(port: door.port, fields: ["Authorization: Bearer control"])
      client.say(#"{"type":"e-stop",\#(members)}"#)
      let ack = try #require(client.next("ack"))
      #expect(ack.json["id"] as? Int == (members.hasPrefix(#""id":3"#) ? 3 : nil))
      #expect(robot.seen.withLock { $0.stops } == 1)
      #expect(pump.seen.withLock { $0.stops } == (named == nil ? 0 : 1))
      guard let named else { return }
      #expect(ack.json["systems"] as? [String] == ["pump", "robot"])
      let message = try #require(ack.json["message"] as? String)
      #expect(message.contains("systems") && message.contains(named) && message.hasSuffix(": everything was stopped"))
    }
  }

  @Test("the client's end, with a close frame or without: every system hears once that it has left")
  func leaves() throws {
    let pump = NotingSystem("pump")
    try TestDoor.with(systems: [robot, pump]) { door in
      do {
        let polite = try WebSocketTestClient(port: door.port)
        polite.send(8, [3, 0xE8])
        #expect(polite.nextClose()?.closeCode == 1000)
        #expect(polite.socket.ends())
        let dies = try WebSocketTestClient(port: door.port)
        #expect(dies.next() != nil)
      }
      let last = try WebSocketTestClient(port: door.port)
      last.send(1, [0xFF])
      #expect(last.nextClose()?.closeCode == 1007)
      for _ in 0..<10_000 where robot.seen.withLock({ $0.left.count }) < 3 {
        _ = try RawSocket(port: door.port)
      }
      #expect(robot.seen.withLock { $0.left.sorted() } == [0x8000_0000, 0x8000_0001, 0x8000_0002])
      #expect(pump.seen.withLock { $0.left.count } == 3)
    }
  }

  @Test("a client that does not read: dropped and told why, while another gets every event in order")
  func slowReader() throws {
    try TestDoor.with(systems: [robot]) { door in
      let slow = try WebSocketTestClient(port: door.port, receiveBuffer: 4096)
      let quick = try WebSocketTestClient(port: door.port)
      #expect(slow.next("hello") != nil)
      #expect(quick.next("hello") != nil)
      let body = #"{"a":"\#(String(repeating: "x", count: 4000))"}"#
      for number in 1...1000 {
        door.hub.publish([WebSocketTests.event(.edge, body: body)])
        #expect(quick.next("edge")?.json["seq"] as? Int == number)
      }
      #expect(door.counters.clientsTooSlow.value == 1)
      #expect(door.counters.clientsOpen.value == 1)
      var frames: [WebSocketTestClient.Frame] = []
      while let frame = slow.next() { frames.append(frame) }
      #expect(frames.count < 500)
      // The close frame arrives when the socket drains within the second that is given to it.
      if let close = frames.last, close.opcode == 8 {
        #expect(close.closeCode == 1008)
        #expect(close.closeReason.hasPrefix("too slow: 257 events behind"))
      }
    }
  }

  @Test("frames right behind the handshake's request: none is lost")
  func early() throws {
    try TestDoor.with(systems: [robot]) { door in
      let socket = try RawSocket(port: door.port)
      let ping = Array(#"{"type":"ping","id":7}"#.utf8)
      socket.send(Array(WebSocketTestClient.request().utf8) + WebSocketTestClient.frame(1, ping))
      #expect(socket.takeHead()?.hasPrefix("HTTP/1.1 101") == true)
      let answer = Data(#""type":"pong""#.utf8)
      while Data(socket.received).range(of: answer) == nil { guard socket.fill() else { break } }
      #expect(Data(socket.received).range(of: answer) != nil)
    }
  }

  @Test("a request, then an upgrade on the same connection: works")
  func later() throws {
    try TestDoor.with(systems: [robot]) { door in
      let socket = try RawSocket(port: door.port)
      socket.send(ServiceChannelTests.get)
      #expect(socket.takeAnswer()?.status == 200)
      socket.send(WebSocketTestClient.request())
      #expect(socket.takeHead()?.hasPrefix("HTTP/1.1 101") == true)
    }
  }

  static let manyDescriptors: Bool = {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = min(limit.rlim_max, 8192)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return limit.rlim_cur >= 4096
  }()

  @Test("1,000 idle clients: all let in, all told, others still answered", .enabled(if: manyDescriptors))
  func thousand() throws {
    try TestDoor.with(systems: [robot]) { door in
      let clients = try (0..<1000).map { _ in try WebSocketTestClient(port: door.port) }
      for client in clients { #expect(client.next("hello") != nil) }
      #expect(door.counters.clientsOpen.value == 1000)
      door.hub.publish([WebSocketTests.event(.edge)])
      for client in clients { #expect(client.next("edge")?.json["seq"] as? Int == 1) }
      let other = try RawSocket(port: door.port)
      other.send(ServiceChannelTests.get)
      #expect(other.takeAnswer()?.status == 200)
    }
  }
}
