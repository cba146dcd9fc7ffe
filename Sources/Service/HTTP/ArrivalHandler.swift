import NIOCore

/// Between the socket and the decoder: tells the gate when bytes come, since the decoder does not tell of half a head, and
/// keeps what comes while the connection becomes a WebSocket.
///
/// Bytes may come at any moment on the event loop, also within a write: NIO reads what is left before it closes a socket whose
/// write failed. While handlers come and go, no other handler may see them.
final class ArrivalHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private enum State {
    case http(RequestGate)
    /// Oldest first.
    case holding(CircularBuffer<ByteBuffer>)
    /// About to leave the pipeline.
    case released
  }

  private var state: State
  private var context: ChannelHandlerContext?

  init(gate: RequestGate) { state = .http(gate) }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch state {
    case .http(let gate):
      gate.bytesArrive(at: context.eventLoop.now)
      context.fireChannelRead(data)
      gate.bytesDecoded(context)
    case .holding(var held):
      held.append(unwrapInboundIn(data))
      state = .holding(held)
    case .released: context.fireChannelRead(data)
    }
  }

  /// Keeps what comes from now on.
  func hold() { state = .holding([]) }

  /// What the decoder had read and not touched when it left: it came before all that is held.
  func takeBack(_ bytes: ByteBuffer) {
    guard case .holding(var held) = state else { return }
    held.prepend(bytes)
    state = .holding(held)
  }

  /// Hands on what was held, in its order, and leaves. The handlers behind are those that bytes are for.
  func release() {
    guard let context else { return }
    while context.channel.isActive, case .holding(var held) = state, let bytes = held.popFirst() {
      state = .holding(held)
      context.fireChannelRead(wrapInboundOut(bytes))
    }
    state = .released
    context.fireChannelReadComplete()
    context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
  }
}
