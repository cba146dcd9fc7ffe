import Glibc
import NIOCore

/// Before each accept: whether a descriptor is left for the connection and some more for the rest of the process. If not, the connection
/// waits in the kernel's queue, and is tried again ten times a second.
///
/// The last must stay free: libdispatch ends the process when it finds none for a look at its threads.
final class AcceptGate: ChannelDuplexHandler {
  typealias InboundIn = any Channel
  typealias OutboundIn = any Channel

  /// Accepts of one turn.
  static let most: UInt = 4
  /// Besides those.
  private static let free = 4
  private static let pause = TimeAmount.milliseconds(100)

  private let descriptors: Int
  private var waiting: Scheduled<Void>?

  /// - Parameter descriptors: how many the process may have open.
  init(descriptors: Int) { self.descriptors = descriptors }

  func read(context: ChannelHandlerContext) {
    guard waiting == nil else { return }
    if hasRoom { context.read() } else { wait(context) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard error is IOError else { return context.fireErrorCaught(error) }
    // Without a pause it would be tried at once for good.
    if waiting == nil { wait(context) }
  }

  func handlerRemoved(context: ChannelHandlerContext) { waiting?.cancel() }

  private func wait(_ context: ChannelHandlerContext) {
    waiting = context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
      self.waiting = nil
      self.read(context: context)
    }
  }

  private var hasRoom: Bool {
    guard descriptors < .max else { return true }
    // The lowest number that is free is the number of those that are taken.
    let next = dup(STDERR_FILENO)
    guard next >= 0 else { return false }
    Glibc.close(next)
    return Int(next) + Int(clamping: Self.most) + Self.free <= descriptors
  }
}
