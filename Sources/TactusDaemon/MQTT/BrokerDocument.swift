import MQTTMosquitto
import Service

/// The daemon's place on its broker as `GET /api/mqtt` shows it.
struct BrokerDocument: Encodable {
  /// The broker that this program has started.
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
  /// `192.168.1.5:1883`
  let broker: String
  let tls: Bool
  /// Whether a user is given to it; not which.
  let user: Bool
  let connected: Bool
  let connections, failures: Int64
  @OrNull var lastFailure: String?
  /// Null if this program does not start the broker.
  @OrNull var spawned: Spawned?
  let device: String
  /// `tactus/garden`
  let topics: String
  /// Null: nothing is announced.
  @OrNull var discoveryPrefix: String?
  /// How many ended how, by `ok` or the refusal's code; null: they are not taken.
  @OrNull var commands: [String: Int64]?
  let received, receivedTooLong, sent, refusedFilters: Int64
  /// By reason: `notConnected`, `tooManyWaiting`, ….
  let refused: [String: Int64]

  init(
    _ mqtt: Configuration.MQTT, status: MQTTStatus, spawned: SpawnedBroker?, commands: [String: Int64]?
  ) {
    broker = mqtt.settings.address
    tls = mqtt.security != nil
    user = mqtt.user != nil
    connected = status.isConnected
    (connections, failures) = (status.connections, status.failures)
    _lastFailure = OrNull(wrappedValue: status.lastFailure)
    _spawned = OrNull(wrappedValue: spawned.map { Spawned($0) })
    device = mqtt.device
    topics = mqtt.topics.base
    _discoveryPrefix = OrNull(wrappedValue: mqtt.discoveryPrefix)
    _commands = OrNull(wrappedValue: commands)
    (received, receivedTooLong, sent) = (status.received, status.receivedTooLong, status.sent)
    refusedFilters = status.refusedFilters
    refused = Dictionary(
      uniqueKeysWithValues: MQTTRefusal.allCases.map { ($0.rawValue, status.refused[$0] ?? 0) })
  }
}
