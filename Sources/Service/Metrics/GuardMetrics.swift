/// Whether the guard watches.
public struct GuardMetrics: MetricSource {
  private let health: GuardHealth

  /// - Parameter health: read at every scrape.
  public init(_ health: GuardHealth) { self.health = health }

  public func write(into writer: inout MetricsWriter) {
    let report = health.report
    writer.gauge(
      "tactus_guard_watching", "Whether a guard watches; 0 also while it is switched off.",
      [.init(report.state == .watching)])
    writer.counter(
      "tactus_guard_replacements_total", "How often a guard died or hung and another took its place.",
      [.init(report.replacements)])
  }
}
