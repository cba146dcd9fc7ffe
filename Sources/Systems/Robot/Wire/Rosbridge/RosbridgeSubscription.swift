import Wire

/// What a rosbridge client asks for when it subscribes to a topic.
public struct RosbridgeSubscription: Sendable, Equatable {
  /// The topic, such as `/odom`.
  public let topic: String
  /// The type that the client expects of the topic, or `nil` if it takes any.
  public let type: String?
  /// The least time between two messages in ms, 0…3,600,000.
  public let throttleMilliseconds: Int
  /// How many messages may wait for a client that reads slowly, 1…100; of more the oldest is dropped.
  public let queueLength: Int

  /// The longest time between two messages that a client may ask for, in ms.
  public static let longestThrottle = 3_600_000
  /// The longest queue that a client may ask for.
  public static let longestQueue = 100

  init(_ members: RosbridgeMembers, id: String?) throws(RosbridgeError) {
    topic = try members.name("topic")
    type = try members.optionalName("type")
    throttleMilliseconds = try members.optionalInteger("throttle_rate", in: 0...Self.longestThrottle) ?? 0
    // 0 is what clients send unless told otherwise: then the newest message is the one that counts.
    queueLength = max(1, try members.optionalInteger("queue_length", in: 0...Self.longestQueue) ?? 0)
    if let way = try members.optionalName("compression"), way != "none" {
      throw RosbridgeError("compression: expected none, got \(JSONValue.text(way).summary)")
    }
    if let size = members["fragment_size"], size != .null {
      throw RosbridgeError("fragment_size: expected none, since no message is fragmented, got \(size.summary)")
    }
  }
}
