import Tactus

extension Route {
  /// Returns the route `GET /api/runtime`; `?histograms=1` adds the buckets of the loops' distributions.
  ///
  /// The document is made for each request, because every tick changes it and requests are rare: `tactus top` sends one a second.
  /// - Throws: 422 for another value of `histograms` than 0 and 1.
  public static func runtime(
    _ runtime: Runtime, version: String, now: @escaping @Sendable () -> TickInstant
  ) -> Route {
    Route(.get, "/api/runtime") { request in
      let histograms = request.query["histograms"] ?? "0"
      guard histograms == "0" || histograms == "1" else {
        throw APIError.validation("histograms", expected: "0 or 1", got: histograms)
      }
      return .json(RuntimeDocument(runtime, version: version, histograms: histograms == "1", now: now()))
    }
  }
}
