import NIOCore
import NIOEmbedded
import Testing

@testable import Service

@Suite("Becoming a WebSocket, in simulated time")
struct UpgradeTests {
  private static let first = WebSocketTestClient.frame(2, [1, 1])
  private static let second = WebSocketTestClient.frame(2, [1, 2])

  /// A connection that asks for a WebSocket, with a frame behind the request and more bytes within one of its flushes.
  private func open(
    flush: Int, late: [[UInt8]], closes: Bool, isReused: Bool = false
  ) throws -> (EmbeddedChannel, ReentrantSocket, NotingSystem) {
    let (loop, robot) = (EmbeddedEventLoop(), NotingSystem())
    let channel = EmbeddedChannel(loop: loop)
    let socket = ReentrantSocket(flush: flush, bytes: late, closes: closes)
    try channel.pipeline.syncOperations.addHandler(socket)
    _ = try TestDoor.channel(systems: [robot]).setup(channel: channel).wait()
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    if isReused { try channel.writeInbound(ByteBuffer(string: ServiceChannelTests.get)) }
    try channel.writeInbound(ByteBuffer(bytes: Array(WebSocketTestClient.request().utf8) + Self.first))
    loop.run()
    return (channel, socket, robot)
  }

  @Test("bytes that come within a write, whichever it is: the WebSocket's, in their order", arguments: [false, true])
  func order(isReused: Bool) throws {
    var count = 1
    repeat {
      let halves = [Array(Self.second[..<3]), Array(Self.second[3...])]
      let (channel, socket, robot) = try open(flush: count, late: halves, closes: false, isReused: isReused)
      count += 1
      guard socket.flushes >= count - 1 else { break }
      // Within the answer to an earlier request they are no request, and the connection ends with a refusal.
      if count == 2, isReused {
        #expect(robot.seen.withLock { $0.frames } == [])
        continue
      }
      #expect(channel.isActive)
      #expect(Set(robot.seen.withLock { $0.frames }) == [[1, 1], [1, 2]], "flush \(count - 1)")
      if count == 2 { #expect(robot.seen.withLock { $0.frames } == [[1, 1], [1, 2]]) }
    } while true
    #expect(count > 4, "the answer, hello and a state at least")
  }

  @Test(
    "a write fails, whichever it is: the connection ends once, and a command that was not carried out before never is",
    arguments: [[], [[0x81]], [first], [first, second], [Array(ServiceChannelTests.get.utf8)], [[0, 0xFF, 0x80]]])
  func failure(late: [[UInt8]]) throws {
    var count = 1
    while true {
      let (channel, socket, robot) = try open(flush: count, late: late, closes: true)
      guard socket.flushes >= count else { break }
      #expect(!channel.isActive)
      let seen = robot.seen.withLock { $0 }
      #expect(seen.left.count == (count == 1 ? 0 : 1), "flush \(count)")
      // The answer, hello and the state come before anything that the client says.
      if count <= 3 { #expect(seen.frames == [], "flush \(count)") }
      count += 1
    }
    #expect(count > 3)
  }

  @Test(
    "upgrades that one part of the door might understand and another not: no crash, no frame",
    arguments: [
      "Connection: Upgrade\t\r\nUpgrade: websocket", "Connection: \u{c}upgrade\r\nUpgrade: websocket",
      "Connection: upgrade\r\nConnection: close\r\nUpgrade: websocket", "Connection:upgrade,,\r\nUpgrade:websocket ",
      "Connection: keep-alive\r\nConnection: ,upgrade\r\nUpgrade: h2c\r\nUpgrade: websocket",
      "connection: UPGRADE, close\r\nupgrade: websocket",
    ])
  func odd(fields: String) throws {
    let robot = NotingSystem()
    let channel = EmbeddedChannel(loop: EmbeddedEventLoop())
    _ = try TestDoor.channel(systems: [robot]).setup(channel: channel).wait()
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    let request = WebSocketTestClient.request()
      .replacing("Connection: keep-alive, Upgrade\r\nUpgrade: websocket", with: fields)
    try channel.writeInbound(ByteBuffer(string: request + ServiceChannelTests.get + ServiceChannelTests.get))
    channel.embeddedEventLoop.run()
    _ = try? channel.writeInbound(ByteBuffer(string: ServiceChannelTests.get))
    channel.embeddedEventLoop.run()
    #expect(robot.seen.withLock { $0.frames } == [])
  }
}
