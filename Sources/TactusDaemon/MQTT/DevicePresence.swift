import MQTTMosquitto
import Synchronization
import Wire

/// Publishes on the status topic whether the device can be reached: `online` while the broker has accepted the
/// connection and has granted every subscription to commands, if commands are accepted, and otherwise `offline`, which
/// the broker itself publishes when the connection is lost.
///
/// A command that is sent after `online` was read therefore arrives. The status is published again on each new
/// connection, and when another client has changed it, for instance an old will that arrives late or a broker that was
/// restored.
final class DevicePresence: BrokerParticipant {
  /// A status as it was published, with the connections for which it is true.
  private struct Said: Equatable {
    var isOnline: Bool
    var connections: Int64
    var commandConnections: Int64
  }

  private struct State {
    /// The status that was last published on the present connection, or `nil` if none was.
    var said: Said?
    /// Whether another sender's message has replaced the published presence.
    var isReplaced = false
  }

  private let topic: String
  private let state = Mutex(State())

  init(_ topics: DeviceTopics) { topic = topics.availability }

  var filters: [String] { [topic] }

  /// Publishes `offline`, which reserves the status topic's place among the retained messages. The device stays offline
  /// until `say` publishes something else.
  func begin(on broker: BrokerLine) { publish(isOnline: false, on: broker) }

  /// Compares a message on the status topic with the published status. Retained messages are older than this connection's first status, which
  /// replaces them.
  func receive(_ message: MQTTMessage, on broker: BrokerLine) {
    guard !message.isRetained else { return }
    state.withLock { state in
      guard let said = state.said, message.payload != Self.payload(isOnline: said.isOnline) else { return }
      state.isReplaced = true
    }
  }

  /// Publishes the status if it has changed, if a connection is new, or if another sender has replaced it. Called on the main thread.
  ///
  /// - Parameters:
  ///   - status: the connection over which the status is published.
  ///   - commands: the connection over which commands arrive, or `nil` if they are not accepted.
  func say(_ status: MQTTStatus, commands: MQTTStatus?, on broker: BrokerLine) {
    let isOnline = state.withLock { state -> Bool? in
      guard status.isConnected else {
        state.said = nil
        return nil
      }
      let now = Said(
        isOnline: commands.map { $0.isConnected && $0.isSubscribed } ?? true, connections: status.connections,
        commandConnections: commands?.connections ?? 0)
      guard now != state.said || state.isReplaced else { return nil }
      (state.said, state.isReplaced) = (now, false)
      return now.isOnline
    }
    if let isOnline { publish(isOnline: isOnline, on: broker) }
  }

  private func publish(isOnline: Bool, on broker: BrokerLine) {
    broker.publish(MQTTMessage(topic: topic, payload: Self.payload(isOnline: isOnline), isRetained: true))
  }

  private static func payload(isOnline: Bool) -> [UInt8] {
    Array((isOnline ? DeviceTopics.online : DeviceTopics.offline).utf8)
  }
}
