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
  /// Whether all connections are there.
  let connected: Bool
  /// Whether the connection is there over which commands come, or null if commands are not accepted.
  @OrNull var commandsConnected: Bool?
  let connections, failures: Int64
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
    connected = status.isConnected && commandStatus?.isConnected ?? true
    _commandsConnected = OrNull(wrappedValue: commandStatus?.isConnected)
    (connections, failures) = (status.connections, status.failures)
    _lastFailure = OrNull(wrappedValue: status.lastFailure ?? commandStatus?.lastFailure)
    _spawned = OrNull(wrappedValue: spawned.map { Spawned($0) })
    device = mqtt.device
    topics = mqtt.topics.base
    _discoveryPrefix = OrNull(wrappedValue: mqtt.discoveryPrefix)
    _commands = OrNull(wrappedValue: commands)
    (received, receivedTooLong, sent) = (
      status.received + (commandStatus?.received ?? 0), status.receivedTooLong + (commandStatus?.receivedTooLong ?? 0),
      status.sent
    )
    refusedFilters = status.refusedFilters + (commandStatus?.refusedFilters ?? 0)
    refused = Dictionary(
      uniqueKeysWithValues: MQTTRefusal.allCases.map { ($0.rawValue, status.refused[$0] ?? 0) })
  }
}
