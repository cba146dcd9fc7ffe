import Dispatch
import MQTTMosquitto
import Synchronization
import TactusDaemon

/// The daemon's end of its connection to a simulated broker. It behaves like `MQTTClient` and uses the same outbox. It may be used from any thread.
final class SwarmBrokerLink: Sendable {
  /// A packet for the broker.
  enum Packet {
    case subscribe(String)
    case unsubscribe(String)
    case publish(MQTTMessage)
    /// A DISCONNECT, after which the broker does not publish the will.
    case goodbye
  }

  private struct State {
    var outbox = MQTTOutbox(messageLimit: 1_024, retainedLimit: 4_096)
    var status = MQTTStatus()
    var filters: [String] = []
    var newFilters: [String] = []
    var oldFilters: [String] = []
    var said: [MQTTMessage] = []
    /// Whether the client has been stopped and has not disconnected yet.
    var isStopping = false
    var deliver: @Sendable (MQTTMessage) -> Void = { _ in }
  }

  private let state = Mutex(State())
  private let replies = DispatchSemaphore(value: 0)

  /// Returns the connection that the daemon uses.
  func connection(deliver: @escaping @Sendable (MQTTMessage) -> Void) -> BrokerConnection {
    state.withLock { $0.deliver = deliver }
    return BrokerConnection(
      stop: { self.state.withLock { $0.isStopping = true } }, subscribe: { self.subscribe($0) },
      unsubscribe: { self.unsubscribe($0) },
      publish: { self.publish($0) }, status: { self.state.withLock { $0.status } })
  }

  func deliver(_ message: MQTTMessage) { state.withLock { $0.deliver }(message) }

  /// Notes that the daemon has connected.
  ///
  /// - Parameter topic: the topic of the daemon's will.
  func connected(will topic: String) {
    state.withLock { state in
      (state.status.isConnected, state.status.isSubscribed) = (true, true)
      state.status.connections += 1
      (state.newFilters, state.oldFilters) = (state.filters, [])
      state.outbox.connected(except: topic)
    }
  }

  func disconnected() {
    state.withLock { state in
      state.status.ended()
      state.status.failures += 1
      state.outbox.disconnected()
    }
  }

  /// Returns the packets that are due to be sent.
  func take() -> [Packet] {
    state.withLock { state in
      defer { (state.newFilters, state.oldFilters) = ([], []) }
      return state.oldFilters.map { .unsubscribe($0) } + state.newFilters.map { .subscribe($0) }
        + state.outbox.take(1_024).map { .publish($0) }
    }
  }

  /// Returns the last packets of the client, or none if it was not stopped or was not connected.
  func takeLast(will: MQTTMessage?) -> [Packet] {
    state.withLock { state in
      guard state.isStopping, state.status.isConnected else { return [] }
      (state.isStopping, state.status.isConnected) = (false, false)
      return state.outbox.takeLast(1_024, will: will).map { .publish($0) } + [.goodbye]
    }
  }

  /// Returns the messages published since the last call, whether they were accepted or not.
  func takeSaid() -> [MQTTMessage] {
    state.withLock { state in
      defer { state.said = [] }
      return state.said
    }
  }

  private func subscribe(_ filter: String) {
    state.withLock { state in
      guard !state.filters.contains(filter) else { return }
      state.filters.append(filter)
      state.newFilters.append(filter)
    }
  }

  private func unsubscribe(_ filter: String) {
    state.withLock { state in
      guard state.filters.contains(filter) else { return }
      state.filters.removeAll { $0 == filter }
      state.newFilters.removeAll { $0 == filter }
      state.oldFilters.append(filter)
    }
  }

  /// Waits until a delivered command has been answered, for at most 300 s, so that a missing answer can be detected.
  func waitForReply() { _ = replies.wait(timeout: .now() + .seconds(300)) }

  private func publish(_ message: MQTTMessage) -> MQTTRefusal? {
    defer { if message.topic.hasSuffix("/reply") { replies.signal() } }
    return state.withLock { state in
      state.said.append(message)
      let refusal = state.outbox.add(message, isConnected: state.status.isConnected)
      if let refusal { state.status.refused[refusal, default: 0] += 1 }
      return refusal
    }
  }
}
