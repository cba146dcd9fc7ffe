import Dispatch
import NIOCore
import Synchronization

/// The open connections, kept so that stopping the service can end all of them.
final class OpenConnections: Sendable {
  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    /// Signalled when the last connection has closed; `nil` while the service accepts connections.
    var ended: DispatchSemaphore?
  }

  private let state = Mutex(State())

  /// Adds a connection. The function is to be called on the channel's event loop.
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

  /// Asks every connection to end and signals `ended` when all have closed. A connection added afterwards is closed at once.
  func quiesce(ended: DispatchSemaphore) {
    let open = state.withLock { state in
      state.ended = ended
      if state.channels.isEmpty { ended.signal() }
      return Array(state.channels.values)
    }
    for channel in open { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
  }

  /// Starts to close every connection, without waiting. It may be used from any thread.
  func closeAll() {
    for channel in state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
  }
}
