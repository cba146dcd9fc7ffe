import Wire

/// A message of a client of rosbridge v2, the JSON that ROS speaks over WebSockets: one object whose `op` says what it is.
///
/// Members that the protocol does not know are ignored, as ROS does. Source: the rosbridge v2.0 protocol specification.
public enum RosbridgeMessage: Sendable, Equatable {
  /// The client is going to publish on a topic, whose type it names.
  case advertise(topic: String, type: String)
  /// The client is not going to publish on a topic any more.
  case unadvertise(topic: String)
  /// The client publishes a message on a topic.
  case publish(topic: String, message: JSONValue)
  /// The client wants the messages of a topic.
  case subscribe(RosbridgeSubscription)
  /// The client wants no more messages of a topic.
  case unsubscribe(topic: String)
  /// The client calls a service by its name.
  case callService(String)
  /// The least level of the status messages that the client wants.
  case setLevel(RosbridgeLevel)

  /// The greatest number of UTF-8 bytes of a name: a topic, a type, a service or an `id`.
  public static let longestName = 200

  /// Decodes one message with its `id`, which answers repeat; `nil` if it has none.
  ///
  /// - Throws: what is wrong, with the member that it is about, and the `id` if that could be read.
  public static func decode(_ bytes: [UInt8]) throws(RosbridgeError) -> (message: RosbridgeMessage, id: String?) {
    let value: JSONValue
    do { value = try JSONParser.parse(bytes, repeated: .refused) } catch {
      throw RosbridgeError("line \(error.line), column \(error.column): \(error.reason)")
    }
    guard case .object(let list) = value else { throw RosbridgeError("expected an object, got \(value.summary)") }
    let members = RosbridgeMembers(list)
    let id = try members.optionalName("id")
    do throws(RosbridgeError) { return (try decode(members, id), id) } catch {
      throw RosbridgeError(error.reason, id: id)
    }
  }

  private static func decode(
    _ members: RosbridgeMembers, _ id: String?
  ) throws(RosbridgeError) -> RosbridgeMessage {
    let op = try members.name("op")
    switch op {
    case "advertise": return .advertise(topic: try members.name("topic"), type: try members.name("type"))
    case "unadvertise": return .unadvertise(topic: try members.name("topic"))
    case "publish":
      guard let message = members["msg"] else { throw RosbridgeError("msg: expected an object, got nothing") }
      return .publish(topic: try members.name("topic"), message: message)
    case "subscribe": return .subscribe(try RosbridgeSubscription(members, id: id))
    case "unsubscribe": return .unsubscribe(topic: try members.name("topic"))
    case "call_service": return .callService(try members.name("service"))
    case "set_level":
      let word = try members.name("level")
      guard let level = RosbridgeLevel(rawValue: word) else {
        throw RosbridgeError("level: expected info, warning, error or none, got \(JSONValue.text(word).summary)")
      }
      return .setLevel(level)
    default:
      throw RosbridgeError(
        "op: expected advertise, unadvertise, publish, subscribe, unsubscribe, call_service or set_level, got "
          + JSONValue.text(op).summary)
    }
  }
}

/// The levels of status messages, the gravest first.
public enum RosbridgeLevel: String, Sendable {
  /// The client wants no status messages.
  case none
  /// A message was wrong or refused.
  case error
  /// A request was carried out differently from what was asked.
  case warning
  /// A message that is neither an error nor a warning.
  case info

  /// Returns whether a client that asked for this level receives status messages of another level.
  public func includes(_ other: RosbridgeLevel) -> Bool { other.depth <= depth }

  private var depth: Int {
    switch self {
    case .none: 0
    case .error: 1
    case .warning: 2
    case .info: 3
    }
  }
}

/// The reason why a message of a rosbridge client was refused.
public struct RosbridgeError: Error, Equatable {
  /// A description of the member, the expected value and the received one.
  public let reason: String
  /// The `id` of the message, or `nil` if it has none that could be read.
  public let id: String?

  /// Creates an error from its reason in words and the `id` of the message.
  public init(_ reason: String, id: String? = nil) { (self.reason, self.id) = (reason, id) }
}

/// The parameters with which a rosbridge client subscribes to a topic.
public struct RosbridgeSubscription: Sendable, Equatable {
  /// The topic, such as `/odom`.
  public let topic: String
  /// The type that the client expects of the topic, or `nil` if it takes any.
  public let type: String?
  /// The least time between two messages in ms, 0…3,600,000.
  public let throttleMilliseconds: Int
  /// The greatest number of messages that may wait for a client that reads slowly, 1…100. A further message replaces the oldest.
  public let queueLength: Int

  /// The longest time between two messages that a client may ask for, in ms.
  public static let longestThrottle = 3_600_000
  /// The longest queue that a client may ask for.
  public static let longestQueue = 100

  init(_ members: RosbridgeMembers, id: String?) throws(RosbridgeError) {
    topic = try members.name("topic")
    type = try members.optionalName("type")
    throttleMilliseconds = try members.optionalInteger("throttle_rate", in: 0...Self.longestThrottle) ?? 0
    // Clients send 0 by default, which is taken for a queue of one message, the newest.
    queueLength = max(1, try members.optionalInteger("queue_length", in: 0...Self.longestQueue) ?? 0)
    if let way = try members.optionalName("compression"), way != "none" {
      throw RosbridgeError("compression: expected none, got \(JSONValue.text(way).summary)")
    }
    if let size = members["fragment_size"], size != .null {
      throw RosbridgeError("fragment_size: expected none, since no message is fragmented, got \(size.summary)")
    }
  }
}

extension Twist {
  /// Reads a message of the type `geometry_msgs/Twist`: `{"linear": {"x": m/s}, "angular": {"z": rad/s}}`. A missing member is 0, as in ROS.
  ///
  /// - Throws: an error about a member that is not a number within ±`most`, or that requests what two wheels cannot do: a motion sideways or
  ///   upwards, a roll or a pitch.
  public init(rosbridge message: JSONValue) throws(RosbridgeError) {
    let both = try RosbridgeMembers.object(message, at: "msg", of: ["linear", "angular"])
    let linear = try both.object("linear", of: ["x", "y", "z"])
    let angular = try both.object("angular", of: ["x", "y", "z"])
    let range = -Self.most...Self.most
    self.init(
      metresPerSecond: try linear.number("x", in: range), radiansPerSecond: try angular.number("z", in: range))
    for (vector, member) in [(linear, "y"), (linear, "z"), (angular, "x"), (angular, "y")] {
      _ = try vector.number(member, in: 0...0)
    }
  }
}
