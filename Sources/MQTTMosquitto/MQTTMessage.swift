/// What goes through a broker: a topic and bytes.
public struct MQTTMessage: Sendable, Hashable {
  public var topic: String
  public var payload: [UInt8]
  /// From the broker: it was kept for us. To the broker: it is to be kept for whoever subscribes later.
  public var isRetained: Bool

  public init(topic: String, payload: [UInt8], isRetained: Bool = false) {
    self.topic = topic
    self.payload = payload
    self.isRetained = isRetained
  }

  public init(topic: String, text: String, isRetained: Bool = false) {
    self.init(topic: topic, payload: Array(text.utf8), isRetained: isRetained)
  }

  public var text: String { String(decoding: payload, as: UTF8.self) }

  /// Whether the topic, as a publisher may name it, is one: 1…65,535 bytes, no wildcard, no NUL.
  var hasValidTopic: Bool {
    let bytes = topic.utf8
    return (1...65_535).contains(bytes.count)
      && !bytes.contains { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "#") || $0 == 0 }
  }
}
