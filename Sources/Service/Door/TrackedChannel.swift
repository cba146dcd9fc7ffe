import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// The connections that are open, so that stopping can close them all.
final class OpenConnections: Sendable {
  private let channels = Mutex<[ObjectIdentifier: any Channel]>([:])

  func add(_ channel: any Channel) {
    let identifier = ObjectIdentifier(channel)
    channels.withLock { $0[identifier] = channel }
    channel.closeFuture.whenComplete { _ in self.channels.withLock { $0[identifier] = nil } }
  }

  /// Any thread; returns at once.
  func closeAll() {
    for channel in channels.withLock({ Array($0.values) }) { channel.close(promise: nil) }
  }
}

/// A server's child channel that is noted for stopping.
struct TrackedChannel<Inner: ServerChildChannel>: ServerChildChannel {
  let inner: Inner
  let connections: OpenConnections

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Inner.Value> {
    connections.add(channel)
    return inner.setup(channel: channel, logger: logger)
  }

  func handle(value: Inner.Value, logger: Logger) async { await inner.handle(value: value, logger: logger) }
}
