import Foundation
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import Service

@Suite("The door's connections, in simulated time")
struct TimeoutTests {
  private static func connect(
    admit: @escaping ServiceChannel.Admission = TestDoor.admit
  ) throws -> (EmbeddedChannel, EmbeddedEventLoop) {
    let loop = EmbeddedEventLoop()
    let channel = EmbeddedChannel(loop: loop)
    _ = try TestDoor.channel(admit: admit).setup(channel: channel).wait()
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    return (channel, loop)
  }

  private static func output(_ channel: EmbeddedChannel) throws -> String {
    var text = ""
    while let part = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: part) }
    return text
  }

  @Test("slow-loris: a head that is not whole 10 s after its first byte is answered 408 and the connection closed")
  func slowHead() throws {
    let (channel, loop) = try Self.connect()
    loop.advanceTime(by: .seconds(9))
    for second in 0..<9 {
      try channel.writeInbound(ByteBuffer(string: second == 0 ? "GET / HTTP/1.1\r\nX: " : "a"))
      loop.advanceTime(by: .seconds(1))
      #expect(try Self.output(channel) == "")
    }
    loop.advanceTime(by: .seconds(1))
    let answer = try Self.output(channel)
    #expect(answer.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
    #expect(answer.contains(#""code":"REQUEST_TIMEOUT""#) && answer.contains("connection: close\r\n"))
    loop.advanceTime(by: .seconds(1))
    #expect(!channel.isActive)
  }

  @Test("requests of a client that does not read: none is answered; once it reads, all are, in order")
  func unread() throws {
    let (channel, loop) = try Self.connect()
    channel.isWritable = false
    let requests = (0..<300).map { _ in "GET /api/status HTTP/1.1\r\nHost: a\r\n\r\n" }.joined()
    try channel.writeInbound(ByteBuffer(string: requests))
    #expect(try Self.output(channel) == "")
    // It has sent all it wanted: that is no reason to answer before it reads.
    channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    #expect(try Self.output(channel) == "" && channel.isActive)
    channel.isWritable = true
    channel.pipeline.fireChannelWritabilityChanged()
    loop.advanceTime(by: .seconds(1))
    #expect(try Self.output(channel).components(separatedBy: "HTTP/1.1 200 OK").count == 301)
  }

  @Test("more than one read arrives of a client that does not read: the connection is closed, what came is thrown away")
  func unreadFlood() throws {
    let (channel, _) = try Self.connect()
    channel.isWritable = false
    for _ in 0..<4 { try channel.writeInbound(ByteBuffer(repeating: 0x0A, count: 16 * 1024)) }
    #expect(channel.isActive)
    try channel.writeInbound(ByteBuffer(repeating: 0x0A, count: 1))
    #expect(!channel.isActive)
  }

  @Test("a stranger's connection: closed after 10 s without a byte, also after an answer to nobody")
  func stranger() throws {
    let (channel, loop) = try Self.connect { _, peer, _, _ throws(APIError) in
      Caller(scope: .read, tokenID: nil, address: peer, client: 0)
    }
    loop.advanceTime(by: .seconds(9))
    #expect(channel.isActive)
    try channel.writeInbound(ByteBuffer(string: "GET /api/status HTTP/1.1\r\nHost: a\r\n\r\n"))
    #expect(try Self.output(channel).hasPrefix("HTTP/1.1 200 OK\r\n"))
    loop.advanceTime(by: .seconds(9))
    #expect(channel.isActive)
    loop.advanceTime(by: .seconds(1))
    #expect(!channel.isActive)
    let (silent, time) = try Self.connect()
    time.advanceTime(by: .seconds(10))
    #expect(!silent.isActive)
  }

  @Test("idle connection of somebody known: closed after 60 s, counted from its last request")
  func idle() throws {
    let (channel, loop) = try Self.connect()
    loop.advanceTime(by: .seconds(9))
    try channel.writeInbound(ByteBuffer(string: "GET /api/status HTTP/1.1\r\nHost: a\r\n\r\n"))
    #expect(try Self.output(channel).hasPrefix("HTTP/1.1 200 OK\r\n"))
    loop.advanceTime(by: .seconds(59))
    #expect(channel.isActive)
    loop.advanceTime(by: .seconds(1))
    #expect(!channel.isActive)
  }

  @Test(
    "the same request again: let in without the access control for 100 ms, asked about when it differs or comes later")
  func recentAdmission() throws {
    let isOpen = Atomic(true)
    let asked = Atomic(0)
    let (channel, loop) = try Self.connect { _, peer, _, _ throws(APIError) in
      asked.add(1, ordering: .relaxed)
      guard isOpen.load(ordering: .relaxed) else { throw APIError(.unauthorized, "TOKEN_INVALID", "revoked") }
      return Caller(scope: .read, tokenID: nil, address: peer, client: 1)
    }
    func ask(_ token: String) throws -> String {
      let request = "GET /api/status HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(token)\r\n\r\n"
      try channel.writeInbound(ByteBuffer(string: request))
      return String(try Self.output(channel).prefix(12))
    }
    #expect(try ask("one") == "HTTP/1.1 200")
    loop.advanceTime(by: .milliseconds(99))
    #expect(try ask("one") == "HTTP/1.1 200")
    #expect(asked.load(ordering: .relaxed) == 1)
    isOpen.store(false, ordering: .relaxed)
    #expect(try ask("one") == "HTTP/1.1 200")
    #expect(try ask("two") == "HTTP/1.1 401")
    #expect(try ask("two") == "HTTP/1.1 401")
    #expect(asked.load(ordering: .relaxed) == 3)
    loop.advanceTime(by: .milliseconds(1))
    #expect(try ask("one") == "HTTP/1.1 401")
  }

  @Test("the server stops: an idle connection is closed at once")
  func quiesce() throws {
    let (channel, _) = try Self.connect()
    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    #expect(!channel.isActive)
  }
}
