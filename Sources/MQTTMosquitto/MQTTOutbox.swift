/// The messages that wait to be sent, in order, and the newest state of each retained topic.
///
/// The outbox is a value, for use under a client's lock or in simulated time. Retained states are kept permanently and sent again
/// on each new connection, since the broker may have lost them. Removals of retained topics, which are empty states, are also sent
/// again, since they may be lost with a connection; the outbox keeps them as long as it has room. If a topic is published faster
/// than the connection accepts it, only the newest state is sent.
package struct MQTTOutbox: Sendable {
  package let messageLimit: Int
  package let retainedLimit: Int
  package private(set) var messages: [MQTTMessage] = []
  private var retained: [String: [UInt8]] = [:]
  /// The retained topics whose newest state the broker does not know, in the order in which they changed.
  private var stale: [String] = []
  private var isStale: Set<String> = []

  package init(messageLimit: Int, retainedLimit: Int) {
    self.messageLimit = messageLimit
    self.retainedLimit = retainedLimit
  }

  /// Adds a message. Returns the reason for a refusal, or `nil` if the message was accepted.
  package mutating func add(_ message: MQTTMessage, isConnected: Bool) -> MQTTRefusal? {
    if message.isRetained {
      guard retained[message.topic] != nil || retained.count < retainedLimit || makeRoom() else {
        return .tooManyRetained
      }
      retained[message.topic] = message.payload
      if isStale.insert(message.topic).inserted { stale.append(message.topic) }
      return nil
    }
    // A message is refused while there is no connection: sent after a reconnection it would be outdated.
    guard isConnected else { return .notConnected }
    guard messages.count < messageLimit else { return .tooManyWaiting }
    messages.append(message)
    return nil
  }

  /// Marks every retained state to be sent again, on a new connection.
  ///
  /// - Parameter topic: the will's topic, if there is a will. A state that was sent there keeps its place but is not sent again: the will has
  ///   replaced it, and only the publisher knows whether it is true of the new connection.
  package mutating func connected(except topic: String?) {
    stale = retained.keys.filter { $0 != topic || isStale.contains($0) }.sorted()
    isStale = Set(stale)
  }

  package mutating func disconnected() { messages = [] }

  /// Returns up to `count` messages that are to be sent now: ordinary messages first, then retained states.
  package mutating func take(_ count: Int) -> [MQTTMessage] {
    guard count > 0 else { return [] }
    var taken = Array(messages.prefix(count))
    messages.removeFirst(taken.count)
    let topics = stale.prefix(count - taken.count)
    for topic in topics {
      isStale.remove(topic)
      guard let payload = retained[topic] else { continue }
      taken.append(MQTTMessage(topic: topic, payload: payload, isRetained: true))
    }
    stale.removeFirst(topics.count)
    return taken
  }

  /// Returns the last messages of a connection: up to `count` waiting ones, then the will, which the broker does not publish for a
  /// client that disconnects in an orderly way.
  package mutating func takeLast(_ count: Int, will: MQTTMessage?) -> [MQTTMessage] {
    take(count) + (will.map { [$0] } ?? [])
  }

  /// Drops a removal that has been sent, to make room for another topic. Returns whether there was one.
  private mutating func makeRoom() -> Bool {
    let told = retained.filter { $0.value.isEmpty && !isStale.contains($0.key) }.keys.min()
    guard let told else { return false }
    retained[told] = nil
    return true
  }

  package var isEmpty: Bool { messages.isEmpty && stale.isEmpty }
}
