@_spi(FromOutside) import Conversions
import NIOCore
import NIOWebSocket

/// Decodes WebSocket frames (RFC 6455 §5.2). An invalid length is refused before its payload arrives; NIO's decoder
/// would accept lengths that are encoded in more bytes than necessary.
struct WebSocketDecoder: ByteToMessageDecoder {
  typealias InboundOut = WebSocketFrame

  private struct Header {
    let first: UInt8
    /// The length of the header in bytes.
    var size: Int
    /// The length of the payload in bytes.
    var length: Int
    var mask: WebSocketMaskingKey?

    var isControl: Bool { first & 0x08 != 0 }
    var isFinal: Bool { first & 0x80 != 0 }
  }

  private let limits: WebSocketLimits

  init(_ limits: WebSocketLimits) { self.limits = limits }

  func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
    guard let header = try header(buffer), buffer.readableBytes - header.size >= header.length else {
      return .needMoreData
    }
    buffer.moveReaderIndex(forwardBy: header.size)
    guard let payload = buffer.readSlice(length: header.length),
      let opcode = WebSocketOpcode(encodedWebSocketOpcode: header.first & 0x0F)
    else { preconditionFailure("the payload is there, and four bits are an opcode") }
    let frame = WebSocketFrame(
      fin: header.isFinal, rsv1: header.first & 0x40 != 0, rsv2: header.first & 0x20 != 0,
      rsv3: header.first & 0x10 != 0, opcode: opcode, maskKey: header.mask, data: payload)
    context.fireChannelRead(Self.wrapInboundOut(frame))
    return .continue
  }

  /// Returns the header of the next frame, or `nil` if it is incomplete.
  private func header(_ buffer: ByteBuffer) throws(WebSocketMachine.CloseReason) -> Header? {
    let start = buffer.readerIndex
    guard let first = buffer.getInteger(at: start, as: UInt8.self),
      let second = buffer.getInteger(at: start + 1, as: UInt8.self)
    else { return nil }
    var header = Header(first: first, size: 2, length: Int(second & 0x7F))
    let isShort = header.length < 126
    if header.isControl {
      guard header.isFinal else { throw .init(1002, "a fragmented control frame") }
      guard isShort else { throw .init(1002, "a control frame of more than 125 bytes") }
    }
    if !isShort {
      guard let said = extendedLength(buffer, isWord: header.length == 126) else { return nil }
      guard said.value > said.needless else { throw .init(1002, "a length in more bytes than it needs") }
      guard said.value <= UInt64(clamping: limits.messageBytes) else { throw .tooLarge(limits) }
      header.length = Int(clamping: said.value)
      header.size += said.size
    }
    guard second & 0x80 != 0 else { return header }
    guard let mask = buffer.getBytes(at: start + header.size, length: 4) else { return nil }
    header.mask = WebSocketMaskingKey(mask)
    header.size += 4
    return header
  }

  /// Returns the length that follows the first two bytes, the number of bytes that encode it, and the greatest length
  /// that a shorter form could encode. Returns `nil` if the length is incomplete.
  private func extendedLength(_ buffer: ByteBuffer, isWord: Bool) -> (value: UInt64, size: Int, needless: UInt64)? {
    let place = buffer.readerIndex + 2
    return isWord
      ? buffer.getInteger(at: place, as: UInt16.self).map { (UInt64($0), 2, 125) }
      : buffer.getInteger(at: place, as: UInt64.self).map { ($0, 8, 65_535) }
  }
}
