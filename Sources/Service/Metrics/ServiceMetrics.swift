/// The counters of the service as metrics.
public struct ServiceMetrics: MetricSource {
  private let counters: ServiceCounters

  /// Makes the metrics of these counters.
  ///
  /// - Parameter counters: the counters, read at every scrape.
  public init(_ counters: ServiceCounters) { self.counters = counters }

  public func write(into writer: inout MetricsWriter) {
    writer.counter(
      "tactus_service_accepted_connections_total", "Connections that were let in.",
      [.init(counters.connections.value)])
    writer.counter(
      "tactus_service_refused_connections_total", "Connections turned away: too many, in all or of one address.",
      [.init(counters.connectionsRefused.value)])
    writer.counter(
      "tactus_service_evicted_connections_total", "Connections without a token that were closed to make room.",
      [.init(counters.connectionsEvicted.value)])
    writer.counter(
      "tactus_service_slow_connections_total",
      "Connections closed because they did not read an answer while too much waited for all clients.",
      [.init(counters.connectionsTooSlow.value)])
    writer.gauge(
      "tactus_service_connections", "Connections that are open, WebSockets among them.",
      [.init(counters.connectionsOpen.value)])
    writer.counter(
      "tactus_service_responses_total", "Answers, by class of status.",
      [
        .init(counters.success.value, ["class": "2xx"]), .init(counters.redirection.value, ["class": "3xx"]),
        .init(counters.clientErrors.value, ["class": "4xx"]), .init(counters.serverErrors.value, ["class": "5xx"]),
      ])
    writer.counter(
      "tactus_service_prepared_responses_total", "Answers given from bytes that were ready.",
      [.init(counters.prepared.value)])
    writer.counter(
      "tactus_service_broken_requests_total", "Requests that never became whole, and why.",
      [.init(counters.timeouts.value, ["reason": "timeout"]), .init(counters.malformed.value, ["reason": "malformed"])])
    writer.gauge(
      "tactus_service_websocket_clients", "WebSocket clients that are connected.", [.init(counters.clientsOpen.value)])
    writer.counter(
      "tactus_service_accepted_websocket_clients_total", "WebSocket clients that were let in.",
      [.init(counters.clients.value)])
    writer.counter(
      "tactus_service_dropped_websocket_clients_total", "WebSocket clients that were dropped, and why.",
      [
        .init(counters.clientsTooSlow.value, ["reason": "too_slow"]),
        .init(counters.clientsSilent.value, ["reason": "silent"]),
        .init(counters.clientsMalformed.value, ["reason": "malformed"]),
      ])
    writer.counter(
      "tactus_service_sent_events_total", "Events handed to WebSocket clients, one for each client.",
      [.init(counters.eventsSent.value)])
    writer.counter(
      "tactus_service_coalesced_events_total", "Telemetry that a newer one replaced before the client could take it.",
      [.init(counters.eventsCoalesced.value)])
  }
}
