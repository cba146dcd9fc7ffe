import MQTTMosquitto
import Service

/// The metrics of the daemon's connection to its broker.
struct BrokerMetrics: MetricSource {
  let status: @Sendable () -> MQTTStatus
  let commandStatus: @Sendable () -> MQTTStatus?
  let spawned: @Sendable () -> SpawnedBroker?
  let commands: @Sendable () -> [String: Int64]

  func write(into writer: inout MetricsWriter) {
    let (status, commandStatus) = (status(), commandStatus())
    writer.gauge("tactus_mqtt_connected", "Whether the broker has accepted us.", [.init(status.isConnected)])
    if let commandStatus {
      writer.gauge(
        "tactus_mqtt_commands_connected",
        "Whether the connection over which commands come is there with its subscriptions granted.",
        [.init(commandStatus.isConnected && commandStatus.isSubscribed)])
    }
    // The counts are sums over both connections.
    let both = status.with(commandStatus)
    func counter(_ name: String, _ help: String, _ samples: [MetricSample]) {
      writer.counter("tactus_mqtt_\(name)_total", help, samples)
    }
    counter("connections", "Connections that the broker accepted.", [.init(both.connections)])
    counter("failures", "Attempts to connect that failed, and connections that ended.", [.init(both.failures)])
    counter("received_messages", "Messages that came.", [.init(both.received)])
    counter("sent_messages", "Messages given to the connection.", [.init(both.sent)])
    counter(
      "refused_messages", "Messages that were not sent, and why.",
      MQTTRefusal.allCases.map { refusal in
        let reason = refusal.rawValue.reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : "\($1)" }
        return .init(both.refused[refusal] ?? 0, ["reason": reason])
      })
    counter("too_long_messages", "Messages that came and were too long.", [.init(both.receivedTooLong)])
    counter("refused_filters", "Subscriptions that the broker refused.", [.init(both.refusedFilters)])
    counter(
      "commands", "Commands over MQTT, by how they ended.",
      commands().sorted { $0.key < $1.key }.map { .init($0.value, ["outcome": $0.key.lowercased()]) })
    if let broker = spawned() {
      counter("broker_starts", "Starts of the broker of our own.", [.init(broker.starts)])
    }
  }
}
