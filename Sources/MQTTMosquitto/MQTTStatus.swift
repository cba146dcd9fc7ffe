/// The state and counts of a client as other threads see them.
public struct MQTTStatus: Sendable, Hashable {
  /// Whether the broker has accepted a connection that has not ended.
  public package(set) var isConnected = false
  /// Whether the broker has granted every subscription on the present connection.
  public package(set) var isSubscribed = false
  /// The filters whose subscription the broker has refused on the present connection.
  public package(set) var refusing: [String] = []
  /// The number of connections in a row that were lost before they had lasted for twice `MQTTSettings.longestDelay`. A
  /// connection that lasts longer sets the number to 0.
  public package(set) var lostSoon: Int64 = 0
  /// The number of connections that the broker accepted since the start.
  public package(set) var connections: Int64 = 0
  /// The reason why there is no connection, or the reason why the last one ended, or `nil` if nothing has failed yet. The text names the broker and
  /// contains no secret.
  public package(set) var lastFailure: String?
  /// Whether the broker's last answer to an attempt to connect was that it does not accept the user or the password.
  public package(set) var isAccountRefused = false
  /// The number of failed attempts to connect and lost connections since the start.
  public package(set) var failures: Int64 = 0
  /// The number of messages that were delivered since the start.
  public package(set) var received: Int64 = 0
  /// The number of received messages whose payload was longer than the limit.
  public package(set) var receivedTooLong: Int64 = 0
  /// The number of messages that were passed to the connection.
  public package(set) var sent: Int64 = 0
  /// The number of messages that were not sent, by the reason of their refusal.
  public package(set) var refused: [MQTTRefusal: Int64] = [:]
  /// The number of filters that the broker refused.
  public package(set) var refusedFilters: Int64 = 0

  /// Creates the status of a client that has not been started: not connected, all counts 0.
  public init() {}

  /// Notes that there is no connection.
  package mutating func ended() { (isConnected, isSubscribed, refusing) = (false, false, []) }

  /// Returns the combined status of two connections of one program. It is connected only if both are; counts are sums,
  /// except `lostSoon`, which is the greater one. The failure is that of a connection that does not exist, if there is
  /// one.
  package func with(_ other: MQTTStatus?) -> MQTTStatus {
    guard let other else { return self }
    var both = self
    both.isConnected = isConnected && other.isConnected
    both.isSubscribed = isSubscribed && other.isSubscribed
    both.refusing += other.refusing
    both.lostSoon = max(lostSoon, other.lostSoon)
    both.connections += other.connections
    both.failures += other.failures
    both.lastFailure =
      isConnected && !other.isConnected ? other.lastFailure ?? lastFailure : lastFailure ?? other.lastFailure
    both.received += other.received
    both.receivedTooLong += other.receivedTooLong
    both.sent += other.sent
    both.refused.merge(other.refused) { $0 + $1 }
    both.refusedFilters += other.refusedFilters
    return both
  }
}

/// The reason why a message was not accepted for sending.
public enum MQTTRefusal: String, Sendable, Hashable, CaseIterable, Error {
  /// There is no connection, and the message is not retained; retained messages wait for a connection.
  case notConnected
  /// `MQTTSettings.outgoingLimit` messages are waiting to be sent.
  case tooManyWaiting
  /// The message has a new retained topic, and there are already `MQTTSettings.retainedLimit` such topics.
  case tooManyRetained
  /// The payload is longer than `MQTTSettings.payloadLimit`, or the message is longer than the limit that the broker
  /// has announced.
  case tooLong
  /// The topic is empty, too long, or contains a wildcard or a NUL: see `MQTTMessage.topic`.
  case invalidTopic
}

/// The reason why a client cannot be created.
public enum MQTTError: Error, Sendable, Hashable {
  /// libmosquitto refuses a setting, which is named with the reason.
  case setting(String, reason: String)
  /// A system call failed, named with its file (`open PATH`), or the program that hashes passwords could not be started.
  case system(call: String, errno: Int32)
}

extension MQTTError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .setting(let name, let reason): "MQTT: \(name): \(reason)"
    case .system(let call, let errno): "MQTT: \(call): errno \(errno)"
    }
  }
}
