/// The state and counts of a client as other threads see them.
public struct MQTTStatus: Sendable, Hashable {
  /// Whether the broker has accepted a connection that has not ended.
  public package(set) var isConnected = false
  /// The number of connections that the broker accepted since the start.
  public package(set) var connections: Int64 = 0
  /// The reason why there is no connection, or why the last one ended, or `nil` if nothing has failed yet. The text names the
  /// broker and contains no secret.
  public internal(set) var lastFailure: String?
  /// Whether the broker's last answer to an attempt to connect was that it does not accept the user or the password.
  public package(set) var isAccountRefused = false
  /// The number of failed attempts to connect and lost connections since the start.
  public package(set) var failures: Int64 = 0
  /// The number of messages that were delivered since the start.
  public internal(set) var received: Int64 = 0
  /// The number of received messages whose payload was longer than the limit.
  public internal(set) var receivedTooLong: Int64 = 0
  /// The number of messages that were passed to the connection.
  public internal(set) var sent: Int64 = 0
  /// The number of messages that were not sent, by the reason of their refusal.
  public package(set) var refused: [MQTTRefusal: Int64] = [:]
  /// The number of filters that the broker refused.
  public internal(set) var refusedFilters: Int64 = 0

  /// Creates the status of a client that has not been started: not connected, all counts 0.
  public init() {}
}

/// The reason why a message was not accepted for sending.
public enum MQTTRefusal: String, Sendable, Hashable, CaseIterable, Error {
  /// There is no connection, and the message is not retained; retained messages wait for a connection.
  case notConnected
  /// `MQTTSettings.outgoingLimit` messages are waiting to be sent.
  case tooManyWaiting
  /// The message has a new retained topic, and there are already `MQTTSettings.retainedLimit` such topics.
  case tooManyRetained
  /// The payload is longer than `MQTTSettings.payloadLimit`.
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
