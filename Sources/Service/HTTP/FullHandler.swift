import HTTPTypes
import NIOCore

/// Says 503 to a connection that there is no room for, and closes it.
final class FullHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let lingerTime: TimeAmount

  init(lingerTime: TimeAmount) { self.lingerTime = lingerTime }

  func handlerAdded(context: ChannelHandlerContext) { if context.channel.isActive { answer(context) } }

  func channelActive(context: ChannelHandlerContext) { answer(context) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

  private func answer(_ context: ChannelHandlerContext) {
    let error = APIError(
      .serviceUnavailable, "TOO_MANY_CONNECTIONS", "every connection is taken: close those that are not used",
      headers: [.retryAfter: "1"])
    let bytes = error.answer(isHead: false, connection: .close, allocator: context.channel.allocator)
    context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    context.close(mode: .output, promise: nil)
    let box = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: lingerTime) { box.value.close(promise: nil) }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent || event as? ChannelEvent == .inputClosed { context.close(promise: nil) }
  }
}
