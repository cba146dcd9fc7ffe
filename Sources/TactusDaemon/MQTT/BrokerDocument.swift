import MQTTMosquitto
import Service

/// The document of `GET /api/mqtt`, which describes the daemon's connection to its broker.
struct BrokerDocument: Encodable {
  /// The state of the broker that this program has started.
  struct Spawned: Codable {
    let running: Bool
    let starts: Int64
    @OrNull var lastFailure: String?

    init(_ broker: SpawnedBroker) {
      (running, starts) = (broker.isRunning, broker.starts)
      _lastFailure = OrNull(wrappedValue: broker.lastFailure)
    }
  }

  let ok = true
  /// The address of the broker: `192.168.1.5:1883`.
  let broker: String
  let tls: Bool
  /// Whether the daemon logs in with a user name, which is not shown.
  let user: Bool
  /// Whether all connections are established, and the broker has granted the subscriptions to commands if these are
  /// accepted.
  let connected: Bool
  /// Whether the connection for commands is established with its subscriptions granted, or null if commands are not
  /// accepted.
  @OrNull var commandsConnected: Bool?
  /// The numbers of connections that the broker accepted, of failed attempts and lost connections, and of connections in a row that were
  /// lost soon. All counts are sums over both connections; `lostSoon` is that of the worse one.
  let connections, failures, lostSoon: Int64
  @OrNull var lastFailure: String?
  /// The state of the broker that this program has started, or null if it starts none.
  @OrNull var spawned: Spawned?
  let device: String
  /// The prefix of the device's topics: `tactus/garden`.
  let topics: String
  /// The prefix of the announcements, or null if there are none.
  @OrNull var discoveryPrefix: String?
  /// The number of commands by outcome, `ok` or the code of the refusal, or null if commands are not accepted.
  @OrNull var commands: [String: Int64]?
  let received, receivedTooLong, sent, refusedFilters: Int64
  /// The number of messages refused by the outbox, by reason: `notConnected`, `tooManyWaiting`, ….
  let refused: [String: Int64]

  init(
    _ mqtt: Configuration.MQTT, status: MQTTStatus, commandStatus: MQTTStatus?, spawned: SpawnedBroker?,
    commands: [String: Int64]?
  ) {
    broker = mqtt.settings.address
    tls = mqtt.security != nil
    user = mqtt.user != nil
    let both = status.with(commandStatus)
    let hearsCommands = commandStatus.map { $0.isConnected && $0.isSubscribed }
    connected = both.isConnected && hearsCommands ?? true
    _commandsConnected = OrNull(wrappedValue: hearsCommands)
    (connections, failures, lostSoon) = (both.connections, both.failures, both.lostSoon)
    _lastFailure = OrNull(wrappedValue: both.lastFailure)
    _spawned = OrNull(wrappedValue: spawned.map { Spawned($0) })
    device = mqtt.device
    topics = mqtt.topics.base
    _discoveryPrefix = OrNull(wrappedValue: mqtt.discoveryPrefix)
    _commands = OrNull(wrappedValue: commands)
    (received, receivedTooLong, sent) = (both.received, both.receivedTooLong, both.sent)
    refusedFilters = both.refusedFilters
    refused = Dictionary(uniqueKeysWithValues: MQTTRefusal.allCases.map { ($0.rawValue, both.refused[$0] ?? 0) })
  }
}
