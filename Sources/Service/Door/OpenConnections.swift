import Dispatch
import NIOCore
import Synchronization

/// The connections that are open, so that stopping can end them all.
final class OpenConnections: Sendable {
  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    /// Signalled when the last connection has closed; `nil` while new ones are let in.
    var ended: DispatchSemaphore?
  }

  private let state = Mutex(State())

  /// On the channel's event loop.
  func add(_ channel: any Channel) {
    let identifier = ObjectIdentifier(channel)
    let isEnding = state.withLock { state in
      state.channels[identifier] = channel
      return state.ended != nil
    }
    channel.closeFuture.whenComplete { _ in
      self.state.withLock { state in
        state.channels[identifier] = nil
        if state.channels.isEmpty { state.ended?.signal() }
      }
    }
    if isEnding { channel.close(promise: nil) }
  }

  /// Says to every connection that it should end, and signals `ended` when all have. A connection that comes later is closed
  /// at once.
  func quiesce(ended: DispatchSemaphore) {
    let open = state.withLock { state in
      state.ended = ended
      if state.channels.isEmpty { ended.signal() }
      return Array(state.channels.values)
    }
    for channel in open { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
  }

  /// Any thread; returns at once.
  func closeAll() {
    for channel in state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
  }
}
