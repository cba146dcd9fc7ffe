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
