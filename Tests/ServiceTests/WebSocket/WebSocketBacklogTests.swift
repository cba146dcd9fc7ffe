import NIOCore
import Testing

@testable import Service

@Suite("What waits for a WebSocket client")
struct WebSocketBacklogTests {
  private static func bytes(_ text: String) -> ByteBuffer { ByteBuffer(string: text) }

  @Test("telemetry behind: the newest of each system replaces, edges stay, order stays")
  func coalesced() {
    var backlog = WebSocketBacklog(WebSocketLimits())
    #expect(backlog.offer(Self.bytes("w"), isWritable: true) == .write)
    #expect(backlog.offer(Self.bytes("r1"), telemetry: "robot", isWritable: false) == .wait)
    #expect(backlog.offer(Self.bytes("edge"), isWritable: false) == .wait)
    #expect(backlog.offer(Self.bytes("l1"), telemetry: "leg", isWritable: false) == .wait)
    #expect(backlog.offer(Self.bytes("r2"), telemetry: "robot", isWritable: false) == .replaced)
    #expect(backlog.offer(Self.bytes("late"), isWritable: true) == .wait)
    var order: [String] = []
    while let next = backlog.next() { order.append(String(buffer: next)) }
    #expect(order == ["edge", "l1", "r2", "late"])
  }

  @Test("telemetry that may queue: so many of the newest wait in their order, and the oldest gives way")
  func queued() {
    var backlog = WebSocketBacklog(WebSocketLimits())
    for number in 1...2 {
      #expect(backlog.offer(Self.bytes("r\(number)"), telemetry: "robot", keeping: 3, isWritable: false) == .wait)
    }
    #expect(backlog.offer(Self.bytes("edge"), isWritable: false) == .wait)
    #expect(backlog.offer(Self.bytes("r3"), telemetry: "robot", keeping: 3, isWritable: false) == .wait)
    #expect(backlog.offer(Self.bytes("r4"), telemetry: "robot", keeping: 3, isWritable: false) == .replaced)
    var order: [String] = []
    while let next = backlog.next() { order.append(String(buffer: next)) }
    #expect(order == ["r2", "edge", "r3", "r4"])
  }

  @Test("the 257th event, or the byte beyond 1 MB: too slow")
  func bounded() {
    var backlog = WebSocketBacklog(WebSocketLimits())
    for _ in 0..<256 { #expect(backlog.offer(Self.bytes("e"), isWritable: false) == .wait) }
    #expect(backlog.offer(Self.bytes("e"), isWritable: false) == .tooSlow(behind: 257))
    backlog.clear()
    let half = ByteBuffer(repeating: 0, count: 1 << 19)
    #expect(backlog.offer(half, isWritable: false) == .wait)
    #expect(backlog.offer(half, isWritable: false) == .wait)
    #expect(backlog.offer(Self.bytes("e"), isWritable: false) == .tooSlow(behind: 3))
  }
}
