import Foundation
import Testing

@testable import TactusClient

@Suite("WebSocket frames")
struct WebSocketFramesTests {
  /// The examples of RFC 6455, section 5.7, and a ping.
  @Test("the examples of the specification are read")
  func examples() throws {
    var frames = WebSocketFrames()
    let hello = SocketMessage.text(Data("Hello".utf8))
    #expect(try frames.receive([0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f]) == [.message(hello)])
    #expect(
      try frames.receive([0x01, 0x03, 0x48, 0x65, 0x6c, 0x89, 0x01, 0x07, 0x80, 0x02, 0x6c, 0x6f]) == [
        .ping([7]), .message(hello),
      ])
    #expect(try frames.receive([0x88, 0x05, 0x0F, 0xA1, 0x62, 0x79, 0x65]) == [.close(code: 4001, reason: "bye")])
    #expect(
      try frames.receive([0x82, 0x7E, 0x01, 0x00] + [UInt8](repeating: 9, count: 256)) == [
        .message(.binary(Data(repeating: 9, count: 256)))
      ])
  }

  @Test("a message that comes byte by byte is the same, and several at once are all")
  func pieces() throws {
    var frames = WebSocketFrames()
    let bytes: [UInt8] = [0x82, 0x02, 1, 2, 0x8A, 0x00, 0x81, 0x01, 0x61]
    var found: [WebSocketFrames.Event] = []
    for byte in bytes { found += try frames.receive([byte]) }
    #expect(found == [.message(.binary(Data([1, 2]))), .message(.text(Data("a".utf8)))])
    #expect(try frames.receive(bytes) == found)
  }

  @Test(
    "what no WebSocket says ends the connection",
    arguments: [
      ([0x81, 0x80, 0, 0, 0, 0], .masked), ([0xC1, 0x00], .reservedBits), ([0x83, 0x00], .unknownOpcode(3)),
      ([0x89, 0x7E], .longControlFrame), ([0x80, 0x00], .wrongFragment), ([0x01, 0x00, 0x01, 0x00], .wrongFragment),
      ([0x09, 0x00], .wrongFragment), ([0x82, 0x7F] + [UInt8](repeating: 0xFF, count: 8), .tooLong),
      ([0x82, 0x7F, 0, 0, 0, 0, 0, 0x40, 0, 1], .tooLong),
    ] as [([UInt8], WebSocketFrames.Violation)])
  func wrong(bytes: [UInt8], violation: WebSocketFrames.Violation) {
    var frames = WebSocketFrames()
    #expect(throws: violation) { try frames.receive(bytes) }
  }

  @Test(
    "a client's message is under its mask, with the length in as many bytes as it needs",
    arguments: [0, 125, 126, 65535, 65536])
  func written(count: Int) throws {
    let payload = Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
    let bytes = WebSocketFrames.bytes(of: .binary(payload), mask: 0x1122_3344)
    let head = count < 126 ? 2 : count < 65536 ? 4 : 10
    #expect(bytes.count == head + 4 + count && bytes[1] & 0x80 != 0)
    let key = Array(bytes[head..<(head + 4)])
    #expect(key == [0x11, 0x22, 0x33, 0x44])
    // Unmasked, it is what a server would send.
    var unmasked = Array(bytes[..<head])
    unmasked[1] &= 0x7F
    unmasked += bytes[(head + 4)...].enumerated().map { $1 ^ key[$0 & 3] }
    var frames = WebSocketFrames()
    #expect(try frames.receive(unmasked) == [.message(.binary(payload))])
  }

  @Test("the upgrade: the token is in a header; its answer is read with what comes behind it")
  func upgrade() {
    let request = String(decoding: WebSocketUpgrade.request(Endpoint(host: "pi"), token: "t", key: "k"), as: UTF8.self)
    #expect(
      request.hasPrefix("GET /ws HTTP/1.1\r\nHost: pi:8000\r\n") && request.hasSuffix("Authorization: Bearer t\r\n\r\n")
    )
    let answer = Array("HTTP/1.1 101 Switching Protocols\r\nA: b\r\n\r\n".utf8)
    #expect(WebSocketUpgrade.status(Array(answer.dropLast())) == nil)
    #expect(WebSocketUpgrade.status(answer + [1, 2]).map { [$0.status ?? 0, $0.end] } == [101, answer.count])
    #expect(WebSocketUpgrade.status(Array("no HTTP\r\n\r\n".utf8)).map { $0.status == nil } == true)
  }
}
