/// A client as other threads see it.
public struct MQTTStatus: Sendable, Hashable {
  public internal(set) var isConnected = false
  /// Connections that the broker accepted, since the start.
  public internal(set) var connections: Int64 = 0
  /// Why there is no connection, or why the last one ended; nil: nothing has failed yet. Names the broker, no secret.
  public internal(set) var lastFailure: String?
  public internal(set) var failures: Int64 = 0
  public internal(set) var received: Int64 = 0
  /// Longer than the limit.
  public internal(set) var receivedTooLong: Int64 = 0
  /// Given to the connection.
  public internal(set) var sent: Int64 = 0
  /// Not sent: no connection, too many waiting, too long, or a topic that is none.
  public internal(set) var refused: [MQTTRefusal: Int64] = [:]
  /// Filters that the broker refused.
  public internal(set) var refusedFilters: Int64 = 0

  public init() {}
}

/// Why a message was not taken for sending.
public enum MQTTRefusal: String, Sendable, Hashable, CaseIterable, Error {
  case notConnected
  case tooManyWaiting
  case tooManyRetained
  case tooLong
  case invalidTopic
}

/// Why a client cannot be made.
public enum MQTTError: Error, Sendable, Hashable {
  /// A setting that libmosquitto does not take: which one, and why.
  case setting(String, reason: String)
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
