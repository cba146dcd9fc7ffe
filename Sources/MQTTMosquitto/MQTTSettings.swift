import Tactus

/// Where the broker is, who we are to it, and how much may wait.
public struct MQTTSettings: Sendable {
  public var host = "127.0.0.1"
  public var port: UInt16 = 1883
  /// Unique among the broker's clients: of two with one name each throws the other out.
  public var clientID: String
  public var user: String?
  /// Never in a log, a status or an error.
  public var password: String?
  public var security: MQTTSecurity?
  /// A message that the broker sends when we vanish, and that we send ourselves when we go; retained.
  public var will: MQTTMessage?
  /// Between two signs of life, 5…65,535 s.
  public var keepAliveSeconds = 30
  /// Messages that wait to be sent, at most; and topics that are retained, at most.
  public var outgoingLimit = 1_024
  public var retainedLimit = 4_096
  /// A message that is longer is not taken, neither in nor out.
  public var payloadLimit = 65_536
  /// Before the first attempt to connect again; doubled at each failure up to the second.
  public var shortestDelay = Nanoseconds.seconds(1)
  public var longestDelay = Nanoseconds.seconds(30)

  public init(clientID: String) { self.clientID = clientID }

  /// `mqtt.example:8883`, for people: no user, no password.
  public var address: String { "\(host):\(port)" }
}

/// TLS toward the broker. Its certificate must be valid and name `host`: there is no way to skip that.
public struct MQTTSecurity: Sendable, Hashable {
  /// PEM; nil: the system's authorities.
  public var authorities: String?
  /// Our own, PEM, when the broker asks for it.
  public var certificate: String?
  public var key: String?

  public init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
    self.authorities = authorities
    self.certificate = certificate
    self.key = key
  }
}
