/// Something with metrics of its own: the runtime, a system, the service.
public protocol MetricSource: Sendable {
  /// Writes whole families. Any thread, at every scrape; reads what is published, waits for no loop.
  func write(into writer: inout MetricsWriter)
}

extension Route {
  /// `GET /metrics`: all families of all sources, in their order.
  ///
  /// Written anew for every scrape: a scraper comes every few seconds, and what it gets is of this moment.
  public static func metrics(_ sources: [any MetricSource]) -> Route {
    Route(.get, "/metrics") { _ in
      var writer = MetricsWriter()
      for source in sources { source.write(into: &writer) }
      return APIResponse(contentType: MetricsWriter.contentType, body: Array(writer.text.utf8))
    }
  }
}
