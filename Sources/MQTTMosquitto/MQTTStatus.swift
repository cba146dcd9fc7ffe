/// A client as other threads see it.
public struct MQTTStatus: Sendable, Hashable {
  /// Whether the broker has accepted a connection that has not ended.
  public package(set) var isConnected = false
  /// Connections that the broker accepted, since the start.
  public package(set) var connections: Int64 = 0
  /// Why there is no connection, or why the last one ended, or `nil` if nothing has failed yet. Names the broker, no secret.
  public internal(set) var lastFailure: String?
  /// Attempts to connect that failed and connections that were lost, since the start.
  public package(set) var failures: Int64 = 0
  /// Messages that were delivered, since the start.
  public internal(set) var received: Int64 = 0
  /// Longer than the limit.
  public internal(set) var receivedTooLong: Int64 = 0
  /// Given to the connection.
  public internal(set) var sent: Int64 = 0
  /// Not sent: no connection, too many waiting, too long, or a topic that is none.
  public package(set) var refused: [MQTTRefusal: Int64] = [:]
  /// Filters that the broker refused.
  public internal(set) var refusedFilters: Int64 = 0

  /// The status of a client that has not been started: not connected, every count 0.
  public init() {}
}

/// Why a message was not taken for sending.
public enum MQTTRefusal: String, Sendable, Hashable, CaseIterable, Error {
  /// There is no connection, and the message is not a retained one, which would wait for it.
  case notConnected
  /// `MQTTSettings.outgoingLimit` messages are waiting to be sent.
  case tooManyWaiting
  /// A new retained topic, while there are `MQTTSettings.retainedLimit` of them.
  case tooManyRetained
  /// The payload is longer than `MQTTSettings.payloadLimit`.
  case tooLong
  /// The topic is empty, too long, or holds a wildcard or a NUL: see `MQTTMessage.topic`.
  case invalidTopic
}

/// Why a client cannot be made.
public enum MQTTError: Error, Sendable, Hashable {
  /// A setting that libmosquitto does not take: which one, and why.
  case setting(String, reason: String)
  /// A system call, named with its file (`open PATH`), or the start of the program that hashes passwords failed.
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
