import Tactus

/// Where the broker is, who we are to it, and how much may wait.
public struct MQTTSettings: Sendable {
  /// Name or IP address of the broker, without a port.
  public var host = "127.0.0.1"
  /// TCP port of the broker. `security` does not change it: brokers listen for TLS on 8883 as a rule.
  public var port: UInt16 = 1883
  /// The broker's own socket, where this program has started it (`MosquittoBroker.door`): it is connected to there, and `host` and `port`,
  /// on which another program may listen in its place, only name it.
  public var door: BrokerDoor?
  /// Unique among the broker's clients: of two with one name each throws the other out.
  public var clientID: String
  /// Name to log in with; `nil` to connect without one.
  public var user: String?
  /// Never in a log, a status or an error.
  public var password: String?
  /// `nil` for a connection without TLS.
  public var security: MQTTSecurity?
  /// A message that the broker sends when we vanish, and that we send ourselves when we go; retained.
  public var will: MQTTMessage?
  /// Between two signs of life, 5…65,535 s.
  public var keepAliveSeconds = 30
  /// Messages that wait to be sent, at most.
  public var outgoingLimit = 1_024
  /// Topics whose retained state is kept to be sent again after a reconnection, at most; further ones are refused.
  public var retainedLimit = 4_096
  /// A message that is longer is not taken, neither in nor out.
  public var payloadLimit = 65_536
  /// Before the first attempt to connect again; doubled at each failure up to `longestDelay`.
  public var shortestDelay = Nanoseconds.seconds(1)
  /// The longest delay between two attempts to connect.
  public var longestDelay = Nanoseconds.seconds(30)

  /// A broker on this machine, without a login and without TLS.
  public init(clientID: String) { self.clientID = clientID }

  /// `mqtt.example:8883`, for people: no user, no password.
  public var address: String { "\(host):\(port)" }
}

/// Where a broker that this program has started takes its connection, which no other user's process can.
public struct BrokerDoor: Sendable {
  /// A local socket, at most 107 bytes.
  let path: String
  /// The number of the broker's process; 0 while no broker runs.
  let process: @Sendable () -> Int32
}

/// TLS toward the broker. Its certificate must be valid and name `host`: there is no way to skip that.
public struct MQTTSecurity: Sendable, Hashable {
  /// PEM, or `nil` for the system's authorities.
  public var authorities: String?
  /// Our own, PEM, when the broker asks for it.
  public var certificate: String?
  /// The certificate's private key, PEM, or `nil` if there is no certificate.
  public var key: String?

  /// Paths of PEM files. `MQTTClient.init` throws for a file that cannot be read, and for a certificate or a key alone.
  public init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
    self.authorities = authorities
    self.certificate = certificate
    self.key = key
  }
}
