import Foundation

/// A blocking WebSocket client that can also break the rules.
final class WebSocketTestClient {
  struct Frame: Equatable {
    let opcode: UInt8
    let bytes: [UInt8]

    var text: String { String(decoding: bytes, as: UTF8.self) }
    var json: [String: Any] { (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any] ?? [:] }
    var type: String? { json["type"] as? String }
    var closeCode: Int? { bytes.count < 2 ? nil : Int(bytes[0]) << 8 | Int(bytes[1]) }
    var closeReason: String { String(decoding: bytes.dropFirst(2), as: UTF8.self) }
  }

  static let key = "dGhlIHNhbXBsZSBub25jZQ=="
  let socket: RawSocket
  /// Of the answer, in lower case.
  private(set) var head = ""

  static func request(_ fields: [String] = []) -> String {
    let lines =
      [
        "GET /ws HTTP/1.1", "Host: localhost", "Connection: keep-alive, Upgrade", "Upgrade: websocket",
        "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: \(key)",
      ] + fields
    return lines.joined(separator: "\r\n") + "\r\n\r\n"
  }

  init(port: Int, fields: [String] = [], receiveBuffer: Int32? = nil) throws {
    socket = try RawSocket(port: port, receiveBuffer: receiveBuffer)
    socket.send(Self.request(fields))
    head = socket.takeHead()?.lowercased() ?? ""
  }

  /// The bytes of a client's frame.
  static func frame(_ opcode: UInt8, _ payload: [UInt8], fin: Bool = true, reserved: UInt8 = 0, masked: Bool = true)
    -> [UInt8]
  {
    var frame: [UInt8] = [(fin ? 0x80 : 0) | reserved | opcode]
    let mask: UInt8 = masked ? 0x80 : 0
    if payload.count < 126 {
      frame.append(mask | UInt8(payload.count))
    } else if payload.count < 65536 {
      frame += [mask | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    } else {
      frame.append(mask | 127)
      frame += (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> (8 * $0)) }
    }
    guard masked else { return frame + payload }
    let key: [UInt8] = [0x12, 0x34, 0x56, 0x78]
    return frame + key + payload.enumerated().map { $1 ^ key[$0 % 4] }
  }

  func send(_ opcode: UInt8, _ payload: [UInt8]) { socket.send(Self.frame(opcode, payload)) }
  func say(_ text: String) { send(1, Array(text.utf8)) }

  /// The next frame; nil: the connection ended.
  func next() -> Frame? {
    guard let start = socket.take(2) else { return nil }
    var count = Int(start[1] & 0x7F)
    if count > 125 {
      guard let length = socket.take(count == 126 ? 2 : 8) else { return nil }
      count = length.reduce(0) { $0 << 8 | Int($1) }
    }
    guard let bytes = socket.take(count) else { return nil }
    return Frame(opcode: start[0] & 0x0F, bytes: bytes)
  }

  /// The next event of a type, the others thrown away.
  func next(_ type: String) -> Frame? {
    while let frame = next() { if frame.opcode == 1, frame.type == type { return frame } }
    return nil
  }

  /// The close frame, whatever came before it thrown away.
  func nextClose() -> Frame? {
    while let frame = next() { if frame.opcode == 8 { return frame } }
    return nil
  }
}
