import MQTTMosquitto
import Tactus
import Wire

/// A part of the daemon on the broker: its subscriptions and publications.
///
/// The client keeps what it publishes retained, and sends it again on every new connection, so a part publishes it once.
public protocol BrokerParticipant: AnyObject, Sendable {
  /// Topics, with wildcards or without, that it is given the messages of.
  var filters: [String] { get }
  /// Once, on the main thread, before the first connection.
  func begin(on broker: BrokerLine)
  /// A message on one of `filters`. On the client's thread, in the order of arrival: short work, nothing that waits. What it
  /// publishes goes out at once.
  func take(_ message: MQTTMessage, on broker: BrokerLine)
  /// Ten times a second, on the main thread.
  func beat(at now: TickInstant, on broker: BrokerLine)
  /// The connection has been lost, or the daemon stops. On the main thread, within a beat of it.
  func connectionLost()
}

extension BrokerParticipant {
  public func begin(on broker: BrokerLine) {}
  public func beat(at now: TickInstant, on broker: BrokerLine) {}
  public func connectionLost() {}
}

/// The daemon's connection as a participant uses it. Any thread; nothing waits.
public struct BrokerLine: Sendable {
  let topics: DeviceTopics
  /// The prefix that Home Assistant reads, or `nil` if nothing is announced.
  let discoveryPrefix: String?
  let isConnected: @Sendable () -> Bool
  /// Takes one of a participant's filters back.
  let unsubscribe: @Sendable (String) -> Void
  private let post: @Sendable (MQTTMessage) -> MQTTRefusal?

  init(
    _ mqtt: Configuration.MQTT, isConnected: @escaping @Sendable () -> Bool,
    unsubscribe: @escaping @Sendable (String) -> Void, post: @escaping @Sendable (MQTTMessage) -> MQTTRefusal?
  ) {
    (topics, discoveryPrefix) = (mqtt.topics, mqtt.discoveryPrefix)
    (self.isConnected, self.unsubscribe, self.post) = (isConnected, unsubscribe, post)
  }

  /// Publishes a message. A retained message is taken without a connection, too; an empty one makes the broker forget the topic.
  ///
  /// - Returns: why the message was refused, or `nil` if it was taken.
  @discardableResult
  public func publish(_ message: MQTTMessage) -> MQTTRefusal? { post(message) }
}
