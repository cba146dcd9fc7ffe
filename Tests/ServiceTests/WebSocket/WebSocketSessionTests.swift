import HTTPTypes
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import Service

@Suite("A WebSocket session, in simulated time")
struct WebSocketSessionTests {
  let robot = NotingSystem()
  let counters = ServiceCounters()

  /// A session that has been greeted, with its greeting thrown away.
  private func open(
    token: String = "admin", hub: EventHub = EventHub(), outgoing: OutgoingBudget? = nil,
    seconds: @escaping @Sendable () -> Int64 = { 0 }, on loop: EmbeddedEventLoop = EmbeddedEventLoop(),
    admit: @escaping ServiceChannel.Admission = TestDoor.admit
  ) throws -> (EmbeddedChannel, EmbeddedEventLoop) {
    let channel = EmbeddedChannel(loop: loop)
    let service = TestDoor.channel(
      systems: [robot], hub: hub, counters: counters, outgoing: outgoing, seconds: seconds, admit: admit)
    _ = try service.setup(channel: channel).wait()
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    try channel.writeInbound(ByteBuffer(string: WebSocketTestClient.request(["Authorization: Bearer \(token)"])))
    loop.run()
    return (channel, loop)
  }

  private func output(_ channel: EmbeddedChannel) throws -> [ByteBuffer] {
    var parts: [ByteBuffer] = []
    while let part = try channel.readOutbound(as: ByteBuffer.self) { parts.append(part) }
    return parts
  }

  /// The close frame that has been sent: code and reason.
  private func close(_ channel: EmbeddedChannel) throws -> (code: Int, reason: String)? {
    for part in try output(channel) where part.getInteger(at: 0, as: UInt8.self) == 0x88 {
      return (
        Int(part.getInteger(at: 2, as: UInt16.self) ?? 0), part.getString(at: 4, length: part.readableBytes - 4) ?? ""
      )
    }
    return nil
  }

  /// How many pongs have been sent since the last call.
  private func pongs(_ channel: EmbeddedChannel) throws -> Int {
    try output(channel).count { $0.getInteger(at: 0, as: UInt8.self) == 0x8A }
  }

  @Test("a hundred clients: 32 are told at a time, and each is told everything once and in its order")
  func audience() throws {
    let (hub, loop) = (EventHub(), EmbeddedEventLoop())
    let channels = try (0..<100).map { _ in try open(hub: hub, on: loop).0 }
    for channel in channels { _ = try output(channel) }
    var told = [String](repeating: "", count: 100)
    func publish(_ types: String...) {
      hub.publish(types.map { Event(.edge, type: $0, system: "robot", at: .zero, body: Array("{}".utf8)) })
      loop.run()
    }
    func look() throws -> Int {
      for (index, channel) in channels.enumerated() {
        for part in try output(channel) {
          let text = part.getString(at: 2, length: part.readableBytes - 2) ?? ""
          told[index] += String(text.dropFirst(#"{"type":""#.count).prefix(1))
        }
      }
      return told.count { !$0.isEmpty }
    }
    publish("a", "b")
    #expect(try look() == 32)
    loop.advanceTime(by: .milliseconds(1))
    #expect(try look() == 64)
    publish("c")
    // Who comes now knows what was published before.
    let (late, _) = try open(hub: hub, on: loop)
    _ = try output(late)
    loop.advanceTime(by: .milliseconds(20))
    #expect(try look() == 100 && told.allSatisfy { $0 == "abc" })
    #expect(try output(late).isEmpty)
    // Who waits while more comes is sent all of it at once.
    for type in ["d", "e", "f", "g", "h", "i"] { publish(type) }
    _ = try look()
    // The late one may be among the 32.
    let first = told.count { $0 == "abcd" }
    #expect((31...32).contains(first) && told.count { $0 == "abc" } == 100 - first)
    loop.advanceTime(by: .milliseconds(50))
    #expect(try look() == 100 && told.allSatisfy { $0 == "abcdefghi" })
  }

  @Test("messages without a pause: 64 of one read are taken at once, then eight a turn, and nothing is read meanwhile")
  func turns() throws {
    let (channel, loop) = try open()
    _ = try output(channel)
    var frames = ByteBuffer()
    for _ in 0..<100 { frames.writeBytes([0x89, 0x80, 0, 0, 0, 0]) }
    try channel.writeInbound(frames)
    #expect(try pongs(channel) == 64)
    loop.advanceTime(by: PipelineTurns.pause)
    #expect(try pongs(channel) == PipelineTurns.most)
    loop.advanceTime(by: .seconds(1))
    #expect(try pongs(channel) == 100 - 64 - PipelineTurns.most)
    // What is little is taken at once again.
    try channel.writeInbound(ByteBuffer(bytes: [0x89, 0x80, 0, 0, 0, 0]))
    #expect(try pongs(channel) == 1)
  }

  @Test("long messages wait for turns, also if each comes alone; a frame behind one comes after it")
  func longMessages() throws {
    let (channel, loop) = try open()
    _ = try output(channel)
    let text = #"{"type":"ping","id":1,"x":""# + String(repeating: "x", count: 5_000) + #""}"#
    var frames = ByteBuffer(bytes: [0x81, 0xFE, UInt8(text.utf8.count >> 8), UInt8(text.utf8.count & 0xFF), 0, 0, 0, 0])
    frames.writeString(text)
    frames.writeBytes([0x89, 0x80, 0, 0, 0, 0])
    try channel.writeInbound(frames)
    #expect(try output(channel).isEmpty)
    loop.advanceTime(by: PipelineTurns.pause)
    let sent = try output(channel)
    #expect(sent.map { $0.getInteger(at: 0, as: UInt8.self) } == [0x81, 0x8A])
    #expect(sent.first.map { String(buffer: $0).contains(#""type":"pong""#) } == true)
  }

  @Test("what waits for a client counts in the budget of all, be it an event or an answer, until it is read")
  func outgoing() throws {
    let (budget, hub) = (OutgoingBudget(1 << 20), EventHub())
    let (channel, loop) = try open(hub: hub, outgoing: budget)
    _ = try output(channel)
    #expect(budget.waiting == 0)
    channel.isWritable = false
    hub.publish([WebSocketTests.event(.edge)])
    loop.run()
    let event = budget.waiting
    #expect(event > 0)
    try channel.writeInbound(ByteBuffer(bytes: WebSocketTestClient.frame(1, Array(#"{"type":"ping"}"#.utf8))))
    let both = budget.waiting
    #expect(both > event)
    channel.isWritable = true
    channel.pipeline.fireChannelWritabilityChanged()
    #expect(budget.waiting == 0)
    #expect(try output(channel).reduce(0) { $0 + $1.readableBytes } == both)
  }

  /// A socket that is full after one write, and sends nothing.
  private final class FullSocket: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    let channel: EmbeddedChannel
    init(_ channel: EmbeddedChannel) { self.channel = channel }
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      channel.isWritable = false
      context.write(data, promise: promise)
    }
    func flush(context: ChannelHandlerContext) {}
  }

  @Test("telemetry that fills the socket counts in the budget of all, and no more when the client has gone")
  func outgoingTelemetry() throws {
    let (budget, hub) = (OutgoingBudget(1 << 20), EventHub())
    let (channel, loop) = try open(hub: hub, outgoing: budget)
    try channel.writeInbound(ByteBuffer(bytes: WebSocketTestClient.frame(1, Array(#"{"type":"subscribe"}"#.utf8))))
    _ = try output(channel)
    try channel.pipeline.syncOperations.addHandler(FullSocket(channel), position: .first)
    let event = WebSocketTests.event(.telemetry, body: #"{"x":"\#(String(repeating: "x", count: 100))"}"#)
    hub.publish([event])
    loop.run()
    #expect(budget.waiting > 100)
    _ = try channel.finish(acceptAlreadyClosed: true)
    loop.run()
    #expect(budget.waiting == 0)
  }

  @Test(
    "who comes between an event and its telling: has it in the snapshot and is not told again; then all hear the same")
  func comesBetween() throws {
    let (hub, loop) = (EventHub(), EmbeddedEventLoop())
    let service = TestDoor.channel(systems: [robot], hub: hub)
    let channels = try (0..<2).map { _ in
      let channel = EmbeddedChannel(loop: loop)
      _ = try service.setup(channel: channel).wait()
      try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
      return channel
    }
    try channels[0].writeInbound(ByteBuffer(string: WebSocketTestClient.request()))
    loop.run()
    // The upgrade waits on the loop for its turn, the telling behind it.
    try channels[1].writeInbound(ByteBuffer(string: WebSocketTestClient.request()))
    hub.publish([WebSocketTests.event(.edge)])
    loop.run()
    hub.publish([WebSocketTests.event(.edge)])
    loop.run()
    let heard = try channels.map { channel in
      try output(channel).map { String(buffer: $0) }.compactMap { text in
        text.firstMatch(of: /"type":"(hello|edge)".*?"seq":(\d+)/).map { "\($0.output.1) \($0.output.2)" }
      }
    }
    #expect(heard == [["hello 0", "edge 1", "edge 2"], ["hello 1", "edge 2"]])
  }

  private static let long = [UInt8](repeating: 0x61, count: 40_000)
  static let violations: [(String, [UInt8], Int, String)] = [
    ("unmasked", WebSocketTestClient.frame(1, [0x7B], masked: false), 1002, "a frame without a mask"),
    ("reserved bit", WebSocketTestClient.frame(1, [0x7B], reserved: 0x40), 1002, "reserved bits are set"),
    ("opcode 3", WebSocketTestClient.frame(3, []), 1002, "an unknown opcode"),
    ("opcode 11", WebSocketTestClient.frame(11, []), 1002, "an unknown opcode"),
    ("fragmented ping", WebSocketTestClient.frame(9, [], fin: false), 1002, "a fragmented control frame"),
    (
      "long ping", WebSocketTestClient.frame(9, Array(long[..<126])), 1002, "a control frame of more than 125 bytes"
    ),
    ("not UTF-8", WebSocketTestClient.frame(1, [0xC3, 0x28]), 1007, "text that is not UTF-8"),
    (
      "continuation of nothing", WebSocketTestClient.frame(0, []), 1002, "a continuation of nothing"
    ),
    (
      "message within a message",
      WebSocketTestClient.frame(1, [], fin: false) + WebSocketTestClient.frame(2, []), 1002,
      "a new message within a fragmented one"
    ),
    (
      "64 KB and a byte in one frame", WebSocketTestClient.frame(2, [UInt8](repeating: 0, count: 65537)), 1009,
      "a message of more than 65536 bytes"
    ),
    (
      "64 KB and more in fragments",
      WebSocketTestClient.frame(2, long, fin: false) + WebSocketTestClient.frame(0, long, fin: false), 1009,
      "a message of more than 65536 bytes"
    ),
    ("125 bytes in two", [0x82, 0xFE, 0, 125, 1, 2, 3, 4], 1002, "a length in more bytes than it needs"),
    (
      "65,535 bytes in eight", [0x82, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], 1002, "a length in more bytes than it needs"
    ),
    ("2⁶³ bytes", [0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0], 1009, "a message of more than 65536 bytes"),
    ("close of one byte", WebSocketTestClient.frame(8, [3]), 1002, "a close frame with a wrong code"),
    ("close 1005", WebSocketTestClient.frame(8, [3, 0xED]), 1002, "a close frame with a wrong code"),
    (
      "close reason not UTF-8", WebSocketTestClient.frame(8, [3, 0xE8, 0xFF]), 1007, "a close reason that is not UTF-8"
    ),
  ]

  @Test("a broken rule: closed with the code and the reason for it, the robot let go", arguments: violations)
  func violation(name: String, bytes: [UInt8], code: Int, reason: String) throws {
    let (channel, loop) = try open()
    _ = try output(channel)
    try channel.writeInbound(ByteBuffer(bytes: bytes))
    // Much at a time waits for its turn.
    loop.advanceTime(by: PipelineTurns.pause)
    let close = try #require(try close(channel), "\(name)")
    #expect(close == (code, reason))
    #expect(robot.seen.withLock { $0.left.count } == 1)
    #expect(counters.clientsMalformed.value == 1)
    loop.advanceTime(by: .seconds(1))
    #expect(!channel.isActive)
    #expect(robot.seen.withLock { $0.left.count } == 1)
  }

  @Test("ping: answered with its bytes, also within a fragmented message, which is put together")
  func ping() throws {
    let (channel, _) = try open()
    _ = try output(channel)
    let bytes =
      WebSocketTestClient.frame(2, [1], fin: false) + WebSocketTestClient.frame(9, [7])
      + WebSocketTestClient.frame(0, [2])
    try channel.writeInbound(ByteBuffer(bytes: bytes))
    channel.embeddedEventLoop.run()
    #expect(try output(channel) == [ByteBuffer(bytes: [0x8A, 1, 7]), ByteBuffer(bytes: [0x82, 4, 1, 2, 1, 2])])
  }

  @Test("half-open: pinged every 20 s; nothing heard for 60 s, closed, the robot let go; a pong keeps it open")
  func halfOpen() throws {
    let (channel, loop) = try open()
    _ = try output(channel)
    let ping = ByteBuffer(bytes: [0x89, 0])
    loop.advanceTime(by: .seconds(20))
    #expect(try output(channel) == [ping])
    try channel.writeInbound(ByteBuffer(bytes: WebSocketTestClient.frame(10, [])))
    loop.advanceTime(by: .seconds(59))
    #expect(try output(channel) == [ping, ping])
    #expect(robot.seen.withLock { $0.left.isEmpty })
    loop.advanceTime(by: .seconds(1))
    #expect(try #require(try close(channel)) == (1008, "no pong for 60 s"))
    #expect(robot.seen.withLock { $0.left.count } == 1)
    #expect(counters.clientsSilent.value == 1)
    loop.advanceTime(by: .seconds(1))
    #expect(!channel.isActive)
  }

  @Test("the token expires: closed with 4001 at that second")
  func expiry() throws {
    let loopSeconds = SecondsBox()
    let (channel, loop) = try open(token: "read-expiring") { loopSeconds.value }
    _ = try output(channel)
    for _ in 0..<99 {
      loopSeconds.value += 10
      try channel.writeInbound(ByteBuffer(bytes: WebSocketTestClient.frame(10, [])))
      loop.advanceTime(by: .seconds(10))
    }
    #expect(try close(channel) == nil)
    loopSeconds.value += 10
    loop.advanceTime(by: .seconds(10))
    #expect(try #require(try close(channel)) == (4001, "TOKEN_EXPIRED"))
  }

  @Test(
    "the token is revoked, or allows less: closed with 4001 within a second, the robot let go; a good one keeps it open"
  )
  func revoked() throws {
    for (answer, reason) in [("none", "TOKEN_INVALID"), ("read", "TOKEN_CHANGED")] {
      let now = Mutex("control")
      let (channel, loop) = try open(
        token: "control",
        admit: { request, peer, certificate, scope throws(APIError) in
          var request = request
          request.headerFields[.authorization] = "Bearer \(now.withLock { $0 })"
          return try TestDoor.admit(request, peer, certificate, scope)
        })
      _ = try output(channel)
      loop.advanceTime(by: .seconds(10))
      #expect(try close(channel) == nil)
      let left = robot.seen.withLock { $0.left.count }
      now.withLock { $0 = answer }
      loop.advanceTime(by: .seconds(1))
      #expect(try #require(try close(channel)) == (4001, reason))
      #expect(robot.seen.withLock { $0.left.count } == left + 1)
    }
  }

  @Test("a token is revoked over the API: closed with 4001 without waiting for the next look; a good one stays open")
  func revokedHere() throws {
    let hub = EventHub()
    let now = Mutex("control")
    let (channel, loop) = try open(
      token: "control", hub: hub,
      admit: { request, peer, certificate, scope throws(APIError) in
        var request = request
        request.headerFields[.authorization] = "Bearer \(now.withLock { $0 })"
        return try TestDoor.admit(request, peer, certificate, scope)
      })
    _ = try output(channel)
    hub.checkTokens()
    loop.run()
    #expect(try close(channel) == nil)
    now.withLock { $0 = "none" }
    hub.checkTokens()
    loop.run()
    #expect(try #require(try close(channel)) == (4001, "TOKEN_INVALID"))
  }

  @Test("the server stops: closed with 1001")
  func stop() throws {
    let (channel, _) = try open()
    _ = try output(channel)
    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    #expect(try #require(try close(channel)).code == 1001)
  }
}

/// Unchecked: one thread.
final class SecondsBox: @unchecked Sendable {
  var value: Int64 = 0
}
