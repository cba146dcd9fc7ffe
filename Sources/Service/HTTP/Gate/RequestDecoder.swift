import HTTPTypes
import NIOCore
import NIOHTTP1
import Tactus

/// A part of a request, as the gate hands it on: a head with the instant at which its first byte was read, any number of pieces of the body, an end.
enum RequestPart: Sendable {
  case head(HTTPRequest, read: TickInstant)
  case body(ByteBuffer)
  case end
}

/// A part of an answer, as it is written to the gate: any number of interim heads, a head, any number of pieces of the body, an end.
enum ResponsePart: Sendable {
  case head(HTTPResponse)
  case body(ByteBuffer)
  case end
}

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
