@_spi(FromOutside) import Conversions
import NIOCore
import NIOWebSocket

/// Returns a frame as a server sends it: complete and unmasked, so that the same bytes serve every client.
func webSocketFrame(_ opcode: WebSocketOpcode, _ payload: some Collection<UInt8>) -> ByteBuffer {
  let opcodeBits: UInt8 =
    switch opcode {
    case .text: 0x1
    case .binary: 0x2
    case .connectionClose: 0x8
    case .ping: 0x9
    case .pong: 0xA
    default: preconditionFailure("no frame of ours: \(opcode)")
    }
  let count = payload.count
  var frame = ByteBufferAllocator().buffer(capacity: count + 10)
  frame.writeInteger(0x80 | opcodeBits)
  if count < 126 {
    frame.writeInteger(UInt8(clamping: count))
  } else if count <= Int(UInt16.max) {
    frame.writeInteger(UInt8(126))
    frame.writeInteger(UInt16(clamping: count))
  } else {
    frame.writeInteger(UInt8(127))
    frame.writeInteger(UInt64(clamping: count))
  }
  frame.writeBytes(payload)
  return frame
}
