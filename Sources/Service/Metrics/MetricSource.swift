/// A source of metric families, such as the runtime, a system or the service.
public protocol MetricSource: Sendable {
  /// Writes complete metric families. Called on any thread at every scrape; reads published values only and waits for no loop.
  func write(into writer: inout MetricsWriter)
}

extension Route {
  /// Returns the route `GET /metrics` with all families of all sources, in the order of the sources.
  ///
  /// The text is written anew for every scrape, so that the values are those of the present moment.
  public static func metrics(_ sources: [any MetricSource]) -> Route {
    Route(.get, "/metrics") { _ in
      var writer = MetricsWriter()
      for source in sources { source.write(into: &writer) }
      return APIResponse(contentType: MetricsWriter.contentType, body: Array(writer.text.utf8))
    }
  }
}
