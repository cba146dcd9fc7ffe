import NIOCore

/// Between the socket and the decoder: tells the gate when bytes come, since the decoder does not tell of half a head.
final class ArrivalHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let gate: RequestGate

  init(gate: RequestGate) { self.gate = gate }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    gate.bytesArrive(at: context.eventLoop.now)
    context.fireChannelRead(data)
    gate.bytesDecoded(context)
  }
}
