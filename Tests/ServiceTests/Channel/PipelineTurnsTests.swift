import NIOCore
import NIOEmbedded
import Testing

@testable import Service

@Suite("Clients that send many requests at once take turns")
struct PipelineTurnsTests {
  /// Of shorter ones two are taken at a time.
  private static let request = "GET /api/status HTTP/1.1\r\nHost: a\r\nUser-Agent: one of forty clients\r\n\r\n"

  private let loop = EmbeddedEventLoop()
  private let service = TestDoor.channel(admit: TestDoor.admit)

  private func connect() throws -> EmbeddedChannel {
    let channel = EmbeddedChannel(loop: loop)
    _ = try service.setup(channel: channel).wait()
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    return channel
  }

  /// How many answers a connection has been given since the last call.
  private func answers(_ channel: EmbeddedChannel) throws -> Int { try count("200 OK", channel) }

  private func refusals(_ channel: EmbeddedChannel) throws -> Int { try count("414", channel) }

  private func count(_ status: String, _ channel: EmbeddedChannel) throws -> Int {
    var count = 0
    while let part = try channel.readOutbound(as: ByteBuffer.self) {
      count += String(buffer: part).components(separatedBy: "HTTP/1.1 \(status)").count - 1
    }
    return count
  }

  @Test(
    "forty clients send a hundred requests each: one of each is taken at once, then eight a turn, and another client waits for none of them"
  )
  func flood() throws {
    let (flooders, other) = (try (0..<40).map { _ in try connect() }, try connect())
    for channel in flooders {
      try channel.writeInbound(ByteBuffer(string: String(repeating: Self.request, count: 100)))
    }
    #expect(try flooders.map(answers) == Array(repeating: 1, count: 40))
    loop.advanceTime(by: PipelineTurns.pause)
    #expect(try flooders.map(answers) == Array(repeating: 1, count: 8) + Array(repeating: 0, count: 32))
    try other.writeInbound(ByteBuffer(string: Self.request))
    #expect(try answers(other) == 1)
    // Those that have had a turn come behind those that have not.
    loop.advanceTime(by: PipelineTurns.pause)
    #expect(try flooders.map(answers) == (0..<40).map { (8..<16).contains($0) ? 1 : 0 })
    loop.advanceTime(by: .seconds(10))
    #expect(try flooders.map(answers).reduce(0, +) == 40 * 99 - 16)
  }

  @Test("a body belongs to its head's turn: it waits for none of its own, though requests follow it")
  func body() throws {
    let channel = try connect()
    let post = "POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 200\r\n\r\n" + String(repeating: "x", count: 200)
    try channel.writeInbound(ByteBuffer(string: post + String(repeating: Self.request, count: 3)))
    let gate = try channel.pipeline.syncOperations.handler(type: RequestGate.self)
    // With the body's end the head behind it has come.
    #expect(gate.requests == 2 && gate.machine.reading == .head(since: nil), "the body has not been read to its end")
  }

  @Test("one client alone has a whole turn")
  func alone() throws {
    let channel = try connect()
    try channel.writeInbound(ByteBuffer(string: String(repeating: Self.request, count: 20)))
    #expect(try answers(channel) == 1)
    loop.advanceTime(by: PipelineTurns.pause)
    #expect(try answers(channel) == PipelineTurns.most)
    loop.advanceTime(by: .seconds(1))
    #expect(try answers(channel) == 19 - PipelineTurns.most)
  }

  @Test(
    "refused again and again without a token: in turns from the ninth on; others do not wait, nor does who has shown one"
  )
  func refused() throws {
    let long = ByteBuffer(
      string: "GET /api/status?" + String(repeating: "a=b&", count: 600) + " HTTP/1.1\r\nHost: a\r\n\r\n")
    let (strangers, other) = (try (0..<20).map { _ in try connect() }, try connect())
    for _ in 0..<RequestGate.refusalsAtOnce {
      for channel in strangers { try channel.writeInbound(long) }
      #expect(try strangers.map(refusals) == Array(repeating: 1, count: 20))
    }
    for channel in strangers { try channel.writeInbound(long) }
    #expect(try strangers.map(refusals) == Array(repeating: 0, count: 20))
    try other.writeInbound(ByteBuffer(string: Self.request))
    #expect(try answers(other) == 1)
    loop.advanceTime(by: PipelineTurns.pause)
    #expect(try strangers.map(refusals) == (0..<20).map { $0 < 8 ? 1 : 0 })
    loop.advanceTime(by: .seconds(1))
    #expect(try strangers.map(refusals) == (0..<20).map { $0 < 8 ? 0 : 1 })
    try strangers[0].writeInbound(ByteBuffer(string: Self.request))
    #expect(try answers(strangers[0]) == 0)
    loop.advanceTime(by: PipelineTurns.pause)
    #expect(try answers(strangers[0]) == 1)
    try strangers[0].writeInbound(long)
    #expect(try refusals(strangers[0]) == 1)
  }

  @Test("a client leaves while its requests wait: nothing comes of them")
  func left() throws {
    let channel = try connect()
    try channel.writeInbound(ByteBuffer(string: String(repeating: Self.request, count: 20)))
    try channel.close().wait()
    _ = try answers(channel)
    loop.advanceTime(by: .seconds(1))
    #expect(try answers(channel) == 0)
  }
}
