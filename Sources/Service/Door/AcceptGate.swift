@_spi(FromOutside) import Conversions
import Glibc
import NIOCore

/// Checks before each accept that enough file descriptors are left for the connections and some more for the rest of
/// the process. If not, new connections wait in the kernel's queue and are tried again ten times a second.
///
/// The last descriptor must stay free: libdispatch ends the process if it finds none for an inspection of its threads.
final class AcceptGate: ChannelDuplexHandler {
  typealias InboundIn = any Channel
  typealias OutboundIn = any Channel

  /// The greatest number of accepts in one turn of the event loop.
  static let most: UInt = 4
  /// The number of further descriptors that must be free.
  private static let free = 4
  private static let pause = TimeAmount.milliseconds(100)

  private let descriptors: Int
  private var waiting: Scheduled<Void>?

  /// Makes the gate of a listening socket.
  ///
  /// - Parameter descriptors: the number of descriptors that the process may have open.
  init(descriptors: Int) { self.descriptors = descriptors }

  func read(context: ChannelHandlerContext) {
    guard waiting == nil else { return }
    if hasRoom { context.read() } else { wait(context) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard error is IOError else { return context.fireErrorCaught(error) }
    // Without a pause accepting would be retried endlessly.
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
    // The lowest free number is the number of descriptors in use.
    let next = dup(STDERR_FILENO)
    guard next >= 0 else { return false }
    Glibc.close(next)
    return Int(next) + Int(clamping: Self.most) + Self.free <= descriptors
  }
}
