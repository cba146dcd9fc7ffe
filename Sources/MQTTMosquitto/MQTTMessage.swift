/// What goes through a broker: a topic and bytes.
public struct MQTTMessage: Sendable, Hashable {
  /// 1…65,535 bytes of UTF-8 without a NUL or a wildcard (`+`, `#`); checked when the message is published.
  public var topic: String
  /// At most `MQTTSettings.payloadLimit` bytes, in either direction.
  public var payload: [UInt8]
  /// From the broker: it was kept for us. To the broker: it is to be kept for later subscribers.
  public var isRetained: Bool

  /// Checks nothing: `MQTTClient.publish` refuses a topic or a payload that cannot be sent.
  public init(topic: String, payload: [UInt8], isRetained: Bool = false) {
    self.topic = topic
    self.payload = payload
    self.isRetained = isRetained
  }

  /// A message whose payload is `text` in UTF-8.
  public init(topic: String, text: String, isRetained: Bool = false) {
    self.init(topic: topic, payload: Array(text.utf8), isRetained: isRetained)
  }

  /// The payload read as UTF-8; every invalid sequence becomes U+FFFD.
  public var text: String { String(decoding: payload, as: UTF8.self) }

  /// Whether the topic, as a publisher may name it, is one: 1…65,535 bytes, no wildcard, no NUL.
  var hasValidTopic: Bool {
    let bytes = topic.utf8
    return (1...65_535).contains(bytes.count)
      && !bytes.contains { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "#") || $0 == 0 }
  }
}
