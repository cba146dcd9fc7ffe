/// A message of a broker: a topic and a payload.
public struct MQTTMessage: Sendable, Hashable {
  /// The topic: 1…65,535 bytes of UTF-8 without a NUL or a wildcard (`+`, `#`). It is checked when the message is published.
  public var topic: String
  /// The payload, of at most `MQTTSettings.payloadLimit` bytes in either direction.
  public var payload: [UInt8]
  /// Whether the message is retained. One from the broker had been stored there; one to the broker is stored for later subscribers.
  public var isRetained: Bool

  /// Creates a message without checking it: `MQTTClient.publish` refuses a topic or a payload that cannot be sent.
  public init(topic: String, payload: [UInt8], isRetained: Bool = false) {
    self.topic = topic
    self.payload = payload
    self.isRetained = isRetained
  }

  /// Creates a message whose payload is `text` in UTF-8.
  public init(topic: String, text: String, isRetained: Bool = false) {
    self.init(topic: topic, payload: Array(text.utf8), isRetained: isRetained)
  }

  /// The payload read as UTF-8, in which every invalid sequence becomes U+FFFD.
  public var text: String { String(decoding: payload, as: UTF8.self) }

  /// Whether the topic is valid for publishing: 1…65,535 bytes, no wildcard and no NUL.
  var hasValidTopic: Bool {
    let bytes = topic.utf8
    return (1...65_535).contains(bytes.count)
      && !bytes.contains { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "#") || $0 == 0 }
  }
}
