import MQTTMosquitto
import Tactus
import Wire

/// A part of the daemon that uses the broker, with its subscriptions and publications.
///
/// The client stores retained messages and sends them again on every new connection, so a participant publishes each of them once.
public protocol BrokerParticipant: AnyObject, Sendable {
  /// The topics, with or without wildcards, whose messages the participant receives.
  var filters: [String] { get }
  /// Starts the participant. Called once, on the main thread, before the first connection.
  func begin(on broker: BrokerLine)
  /// Handles a message on one of `filters`. Called on the client's thread, in the order of arrival; must be short and
  /// must not wait. Messages that it publishes are sent at once.
  func receive(_ message: MQTTMessage, on broker: BrokerLine)
  /// Advances the participant. Called ten times a second, on the main thread.
  func beat(at now: TickInstant, on broker: BrokerLine)
  /// Notes that the connection was lost or that the daemon is stopping. Called on the main thread, within one beat.
  func connectionLost()
}

extension BrokerParticipant {
  public func begin(on broker: BrokerLine) {}
  public func beat(at now: TickInstant, on broker: BrokerLine) {}
  public func connectionLost() {}
}

/// The daemon's connection to the broker as a participant uses it. It may be used from any thread; no call waits.
public struct BrokerLine: Sendable {
  let topics: DeviceTopics
  /// The prefix that Home Assistant reads, or `nil` if announcements are switched off.
  let discoveryPrefix: String?
  let isConnected: @Sendable () -> Bool
  /// Unsubscribes one of a participant's filters.
  let unsubscribe: @Sendable (String) -> Void
  private let post: @Sendable (MQTTMessage) -> MQTTRefusal?

  init(
    _ mqtt: Configuration.MQTT, isConnected: @escaping @Sendable () -> Bool,
    unsubscribe: @escaping @Sendable (String) -> Void, post: @escaping @Sendable (MQTTMessage) -> MQTTRefusal?
  ) {
    (topics, discoveryPrefix) = (mqtt.topics, mqtt.discoveryPrefix)
    (self.isConnected, self.unsubscribe, self.post) = (isConnected, unsubscribe, post)
  }

  /// Publishes a message. A retained message is accepted even without a connection; an empty one makes the broker delete the topic.
  ///
  /// - Returns: why the message was refused, or `nil` if it was accepted.
  @discardableResult
  public func publish(_ message: MQTTMessage) -> MQTTRefusal? { post(message) }
}

/// A topic with wildcards, as a subscription names it (MQTT 3.1.1 §4.7).
package struct TopicFilter: Equatable, Sendable {
  private let levels: [Substring]

  /// Reads a filter; `+` stands for one level and `#` for the rest.
  package init(_ text: String) { levels = text.split(separator: "/", omittingEmptySubsequences: false) }

  /// Returns whether a topic matches the filter.
  package func matches(_ topic: String) -> Bool {
    // Wildcards do not match the broker's own topics.
    if topic.utf8.first == UInt8(ascii: "$"), levels.first == "+" || levels.first == "#" { return false }
    // The rest of the topic, or `nil` if its last level has been compared.
    var rest: Substring.UTF8View? = topic[...].utf8
    for level in levels {
      if level == "#" { return true }
      guard let names = rest else { return false }
      let end = names.firstIndex(of: UInt8(ascii: "/"))
      guard level == "+" || level.utf8.elementsEqual(names[..<(end ?? names.endIndex)]) else { return false }
      rest = end.map { names[names.index(after: $0)...] }
    }
    return rest == nil
  }
}
