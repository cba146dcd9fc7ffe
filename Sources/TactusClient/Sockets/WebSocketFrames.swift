import Foundation

/// The WebSocket frames (RFC 6455) of a client: the conversion between bytes and messages.
///
/// Used on Linux, where Foundation's URLSession has no WebSocket, since Debian builds libcurl without it.
struct WebSocketFrames {
  /// A received message or control frame.
  enum Event: Equatable {
    case message(SocketMessage)
    /// A ping, to be answered with a pong of the same bytes.
    case ping([UInt8])
    /// The peer's close frame, with its code, if it gave one, and its reason.
    case close(code: UInt16?, reason: String)
  }

  /// A violation of the protocol by the peer, after which the connection cannot continue.
  enum Violation: Error, Equatable {
    case masked
    case reservedBits
    case unknownOpcode(UInt8)
    case longControlFrame
    case tooLong
    case wrongFragment
  }

  /// The longest accepted message; a longer one ends the connection. The daemon's states are about 10 kB, and the states of a hundred plants about 40
  /// kB.
  static let longestMessage = 4 << 20

  private var buffer: [UInt8] = []
  private var fragments: (opcode: UInt8, bytes: [UInt8])?

  /// Receives bytes and returns the complete messages.
  mutating func receive(_ bytes: some Sequence<UInt8>) throws(Violation) -> [Event] {
    buffer.append(contentsOf: bytes)
    var events: [Event] = []
    while let frame = try nextFrame() {
      if let event = try event(of: frame) { events.append(event) }
    }
    return events
  }

  private struct Frame {
    var isFinal: Bool
    var opcode: UInt8
    var payload: [UInt8]
  }

  /// Removes the next complete frame from the buffer. Returns `nil` if it is incomplete.
  private mutating func nextFrame() throws(Violation) -> Frame? {
    guard buffer.count >= 2 else { return nil }
    let opcode = buffer[0] & 0x0F
    guard buffer[0] & 0x70 == 0 else { throw .reservedBits }
    guard buffer[1] & 0x80 == 0 else { throw .masked }
    var length = UInt64(buffer[1] & 0x7F)
    var start = 2
    if length >= 126 {
      guard opcode < 8 else { throw .longControlFrame }
      let size = length == 126 ? 2 : 8
      guard buffer.count >= 2 + size else { return nil }
      length = buffer[2..<(2 + size)].reduce(0) { $0 << 8 | UInt64($1) }
      start += size
    }
    guard length <= UInt64(Self.longestMessage) else { throw .tooLong }
    guard buffer.count - start >= Int(length) else { return nil }
    let frame = Frame(
      isFinal: buffer[0] & 0x80 != 0, opcode: opcode, payload: Array(buffer[start..<(start + Int(length))]))
    buffer.removeFirst(start + Int(length))
    return frame
  }

  private mutating func event(of frame: Frame) throws(Violation) -> Event? {
    switch frame.opcode {
    case 0x0:
      guard let begun = fragments else { throw .wrongFragment }
      guard begun.bytes.count + frame.payload.count <= Self.longestMessage else { throw .tooLong }
      fragments = (begun.opcode, begun.bytes + frame.payload)
    case 0x1, 0x2:
      guard fragments == nil else { throw .wrongFragment }
      fragments = (frame.opcode, frame.payload)
    case 0x8, 0x9, 0xA:
      guard frame.isFinal else { throw .wrongFragment }
      return control(frame)
    default: throw .unknownOpcode(frame.opcode)
    }
    guard frame.isFinal, let whole = fragments else { return nil }
    fragments = nil
    return .message(whole.opcode == 0x1 ? .text(Data(whole.bytes)) : .binary(Data(whole.bytes)))
  }

  private func control(_ frame: Frame) -> Event? {
    switch frame.opcode {
    case 0x8:
      guard frame.payload.count >= 2 else { return .close(code: nil, reason: "") }
      return .close(
        code: UInt16(frame.payload[0]) << 8 | UInt16(frame.payload[1]),
        reason: String(decoding: frame.payload.dropFirst(2), as: UTF8.self))
    case 0x9: return .ping(frame.payload)
    default: return nil
    }
  }

  /// Returns the frame of a message, masked as a client's frames are.
  static func bytes(of message: SocketMessage, mask: UInt32) -> [UInt8] {
    switch message {
    case .text(let data): frame(opcode: 0x1, Array(data), mask: mask)
    case .binary(let data): frame(opcode: 0x2, Array(data), mask: mask)
    }
  }

  /// Returns the frame of a pong.
  static func pong(_ payload: [UInt8], mask: UInt32) -> [UInt8] { frame(opcode: 0xA, payload, mask: mask) }

  /// Returns a close frame with the code for a normal end.
  static func close(mask: UInt32) -> [UInt8] { frame(opcode: 0x8, [0x03, 0xE8], mask: mask) }

  private static func frame(opcode: UInt8, _ payload: [UInt8], mask: UInt32) -> [UInt8] {
    func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.bigEndian, Array.init) }
    var bytes = [0x80 | opcode]
    switch payload.count {
    case ..<126: bytes.append(0x80 | UInt8(payload.count))
    case ..<65536: bytes += [0x80 | 126] + bigEndian(UInt16(payload.count))
    default: bytes += [0x80 | 127] + bigEndian(UInt64(payload.count))
    }
    let key = bigEndian(mask)
    return bytes + key + payload.enumerated().map { $1 ^ key[$0 & 3] }
  }
}

/// The HTTP upgrade with which a WebSocket begins.
enum WebSocketUpgrade {
  /// The longest accepted answer.
  static let longestAnswer = 16 << 10

  /// Returns the client's request for the upgrade.
  static func request(_ endpoint: Endpoint, token: String?, key: String) -> [UInt8] {
    var lines = [
      "GET /ws HTTP/1.1", "Host: \(endpoint)", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: \(key)",
    ]
    if let token { lines.append("Authorization: Bearer \(token)") }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  /// Returns the status of an answer and the end of its head, or `nil` while the head is incomplete.
  static func status(_ bytes: [UInt8]) -> (status: Int?, end: Int)? {
    guard let end = bytes.indices.dropLast(3).first(where: { Array(bytes[$0..<($0 + 4)]) == [13, 10, 13, 10] }) else {
      return nil
    }
    let line = bytes.prefix { $0 != 13 }
    let words = String(decoding: line, as: UTF8.self).split(separator: " ")
    return (words.count >= 2 && words[0] == "HTTP/1.1" ? Int(words[1]) : nil, end + 4)
  }
}
