public import Store

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

/// The metrics of the guard.
public struct GuardMetrics: MetricSource {
  private let health: GuardHealth

  /// Makes the metrics of a guard.
  ///
  /// - Parameter health: the state of the guard, read at every scrape.
  public init(_ health: GuardHealth) { self.health = health }

  public func write(into writer: inout MetricsWriter) {
    let report = health.report
    let byReason = health.replacementsByReason
    writer.gauge(
      "tactus_guard_watching", "Whether a guard watches; 0 also while it is switched off.",
      [.init(report.state == .watching)])
    writer.counter(
      "tactus_guard_replacements_total", "How often another guard took the place of one that died or hung.",
      ["died", "hung"].map { MetricSample(byReason[$0] ?? 0, ["reason": $0]) })
    writer.counter(
      "tactus_guard_safe_states_total", "How often the guard wrote the safe state of every output.",
      [.init(Double(report.madeSafe))])
  }
}

/// The state of the store as metrics: whether it is open, and whether it can be written.
public struct StoreMetrics: MetricSource {
  private let file: StoreFile

  /// Makes the source. Each `write` asks `file` for its present state and does not wait for a disk.
  public init(_ file: StoreFile) { self.file = file }

  public func write(into writer: inout MetricsWriter) {
    writer.gauge(
      "tactus_store_open",
      "Whether the store could be read: otherwise nothing is kept, and what depends on it is refused.",
      [.init(file.isOpen)])
    writer.gauge(
      "tactus_store_writable", "Whether the store takes writes and its disk has room.", [.init(file.trouble == nil)])
  }
}
