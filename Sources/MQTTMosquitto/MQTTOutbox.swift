/// What is to be sent: messages in their order, and of each retained topic the newest state.
///
/// A value, for the lock of a client, or of one in simulated time. Retained states are kept for ever, and sent again to each new connection, since the broker may
/// have lost them. Removals of retained topics, which are empty states, are sent again as well, since a connection may be lost with them; the outbox keeps
/// them as long as it has room. Of a topic that is published faster than the connection takes it only the newest state is sent.
package struct MQTTOutbox: Sendable {
  package let messageLimit: Int
  package let retainedLimit: Int
  package private(set) var messages: [MQTTMessage] = []
  private var retained: [String: [UInt8]] = [:]
  /// Retained topics that the broker does not know the newest state of, in the order in which they changed.
  private var stale: [String] = []
  private var isStale: Set<String> = []

  package init(messageLimit: Int, retainedLimit: Int) {
    self.messageLimit = messageLimit
    self.retainedLimit = retainedLimit
  }

  /// Nil: taken.
  package mutating func add(_ message: MQTTMessage, isConnected: Bool) -> MQTTRefusal? {
    if message.isRetained {
      guard retained[message.topic] != nil || retained.count < retainedLimit || makeRoom() else {
        return .tooManyRetained
      }
      retained[message.topic] = message.payload
      if isStale.insert(message.topic).inserted { stale.append(message.topic) }
      return nil
    }
    // Sent after a reconnection it would be an answer to a question long forgotten.
    guard isConnected else { return .notConnected }
    guard messages.count < messageLimit else { return .tooManyWaiting }
    messages.append(message)
    return nil
  }

  /// A new connection: every retained state again.
  package mutating func connected() {
    stale = retained.keys.sorted()
    isStale = Set(stale)
  }

  package mutating func disconnected() { messages = [] }

  /// Up to `count` of what is to be sent now, messages first.
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

  /// What is sent last: up to `count` of what waits, then the will, which the broker does not say of a client that says goodbye.
  package mutating func takeLast(_ count: Int, will: MQTTMessage?) -> [MQTTMessage] {
    take(count) + (will.map { [$0] } ?? [])
  }

  /// Drops one removal that has been sent, to make room for another topic. Returns whether there was one.
  private mutating func makeRoom() -> Bool {
    let told = retained.filter { $0.value.isEmpty && !isStale.contains($0.key) }.keys.min()
    guard let told else { return false }
    retained[told] = nil
    return true
  }

  package var isEmpty: Bool { messages.isEmpty && stale.isEmpty }
}
