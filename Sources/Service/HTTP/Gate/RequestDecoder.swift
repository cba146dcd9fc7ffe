import NIOCore
import NIOHTTP1

/// NIO's HTTP decoder, except that the bytes after an upgrade request go to the arrival handler; NIO would pass them to
/// the next handler, which expects parts of requests.
struct RequestDecoder: ByteToMessageDecoder {
  typealias InboundOut = HTTPServerRequestPart

  private let decoder: HTTPRequestDecoder
  private let arrival: ArrivalHandler

  init(_ limits: ConnectionLimits, arrival: ArrivalHandler) {
    var configuration = NIOHTTPDecoderLimitConfiguration()
    configuration.maxHeaderFieldSize = limits.headerFieldBytes
    configuration.maxHeaderListSize = limits.headerBytes
    configuration.maxHeaderFieldCount = limits.headerFields
    decoder = HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: configuration)
    self.arrival = arrival
  }

  func decoderAdded(context: ChannelHandlerContext) { decoder.decoderAdded(context: context) }

  func decoderRemoved(context: ChannelHandlerContext) { decoder.decoderRemoved(context: context) }

  func shouldReclaimBytes(buffer: ByteBuffer) -> Bool { decoder.shouldReclaimBytes(buffer: buffer) }

  func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
    try decoder.decode(context: context, buffer: &buffer)
  }

  /// Decodes the remaining bytes when the connection ends, or passes them to the arrival handler when the decoder is removed.
  ///
  /// - Parameter seenEOF: `false` if the decoder is being removed, which happens at an upgrade only.
  func decodeLast(
    context: ChannelHandlerContext, buffer: inout ByteBuffer, seenEOF: Bool
  ) throws -> DecodingState {
    if seenEOF { return try decoder.decodeLast(context: context, buffer: &buffer, seenEOF: true) }
    if let rest = buffer.readSlice(length: buffer.readableBytes), rest.readableBytes > 0 { arrival.takeBack(rest) }
    return .needMoreData
  }
}
