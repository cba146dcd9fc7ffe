import NIOCore

/// What NIO does when a write fails, in front of a pipeline: within one chosen flush the bytes that are left come in, and the
/// connection closes, if it is to.
final class ReentrantSocket: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer

  private let chosen: Int
  private let bytes: [ByteBuffer]
  private let closes: Bool
  private(set) var flushes = 0

  /// - Parameter chosen: the number of the flush, from 1.
  init(flush chosen: Int, bytes: [[UInt8]], closes: Bool) {
    (self.chosen, self.closes) = (chosen, closes)
    self.bytes = bytes.map { ByteBuffer(bytes: $0) }
  }

  func flush(context: ChannelHandlerContext) {
    flushes += 1
    context.flush()
    guard flushes == chosen else { return }
    for part in bytes { context.fireChannelRead(NIOAny(part)) }
    context.fireChannelReadComplete()
    if closes { context.close(promise: nil) }
  }
}
