import Tactus

/// The address of the broker, the identity of the client, and the limits of its queues.
public struct MQTTSettings: Sendable {
  /// The name or IP address of the broker, without a port.
  public var host = "127.0.0.1"
  /// The TCP port of the broker. `security` does not change it; brokers usually listen for TLS on 8883.
  public var port: UInt16 = 1883
  /// The socket of a broker that this program has started (`MosquittoBroker.localSocket`), or `nil` for another broker.
  /// The client then connects to this socket, since another program could listen on the port; `host` and `port` serve
  /// only as its name.
  public var localSocket: BrokerSocket?
  /// The identifier of the client, which must be unique among the broker's clients: two with the same identifier disconnect each other.
  public var clientID: String
  /// The name to log in with, or `nil` to connect without one.
  public var user: String?
  /// The password, which never appears in a log, a status or an error.
  public var password: String?
  /// The TLS settings, or `nil` for a connection without TLS.
  public var security: MQTTSecurity?
  /// A retained message that the broker publishes when this client disappears, and that the client publishes itself
  /// before it disconnects. The value is `nil` if there is none. Unlike all other retained state, the state on this
  /// topic is not published again after a reconnection: the client's user must do that once the state is true again.
  public var will: MQTTMessage?
  /// The keep-alive interval in seconds, 5…65,535.
  public var keepAliveSeconds = 30
  /// The greatest number of messages that wait to be sent.
  public var outgoingLimit = 1_024
  /// The greatest number of topics whose retained state is kept to be sent again after a reconnection. Further topics are refused.
  public var retainedLimit = 4_096
  /// The greatest payload in bytes, for both directions. A message with a longer payload is refused.
  public var payloadLimit = 65_536
  /// The delay before the first attempt to reconnect. It is doubled at each failure up to `longestDelay`, and starts anew only after a
  /// connection that has lasted for twice `longestDelay`.
  public var shortestDelay = Nanoseconds.seconds(1)
  /// The longest delay between two attempts to connect.
  public var longestDelay = Nanoseconds.seconds(30)

  /// Creates settings for a broker on the local machine, without a login and without TLS.
  public init(clientID: String) { self.clientID = clientID }

  /// The address for people, such as `mqtt.example:8883`, without user and password.
  public var address: String { "\(host):\(port)" }
}

/// The local socket of a broker that this program has started. Other users' processes cannot listen on it.
public struct BrokerSocket: Sendable {
  /// The path of the socket, at most 107 bytes.
  let path: String
  /// Returns the process id of the broker, or 0 while no broker runs.
  let process: @Sendable () -> Int32
}

/// The TLS settings for the broker. Its certificate must be valid and contain `host`; this check cannot be disabled.
public struct MQTTSecurity: Sendable, Hashable {
  /// The path of a PEM file of certificate authorities, or `nil` for the system's authorities.
  public var authorities: String?
  /// The path of this client's certificate in PEM, for a broker that requires one, or `nil` if there is none.
  public var certificate: String?
  /// The path of the certificate's private key in PEM, or `nil` if there is no certificate.
  public var key: String?

  /// Creates settings from paths of PEM files. `MQTTClient.init` throws for a file that cannot be read, and for a certificate or a key alone.
  public init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
    self.authorities = authorities
    self.certificate = certificate
    self.key = key
  }
}
