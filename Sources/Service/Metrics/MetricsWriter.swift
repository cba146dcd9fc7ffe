/// A source of metric families, such as the runtime, a system or the service.
public protocol MetricSource: Sendable {
  /// Writes complete metric families. Called on any thread at every scrape; reads published values only and waits for no loop.
  func write(into writer: inout MetricsWriter)
}

extension Route {
  /// Returns the route `GET /metrics` with all families of all sources, in the order of the sources.
  ///
  /// The text is written for every scrape, so that the values are those of the present moment.
  public static func metrics(_ sources: [any MetricSource]) -> Route {
    Route(.get, "/metrics") { _ in
      var writer = MetricsWriter()
      for source in sources { source.write(into: &writer) }
      return APIResponse(contentType: MetricsWriter.contentType, body: Array(writer.text.utf8))
    }
  }
}

/// Writes metrics in Prometheus' text format 0.0.4.
///
/// A family is written as a whole, by one call. A name that the format does not allow, a counter whose name does not
/// end in `_total`, or a family that is written twice traps.
/// Source: prometheus.io/docs/instrumenting/exposition_formats, "Text-based format".
public struct MetricsWriter: Sendable {
  /// The content type of the answer to a scrape.
  public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  /// The text written so far.
  public private(set) var text = ""
  private var families: Set<String> = []

  /// Makes an empty text. Each scrape needs its own writer.
  public init() {}

  /// Writes a family of values that only grow during the daemon's life, or nothing if there is no sample.
  public mutating func counter(_ name: String, _ help: String, _ samples: [MetricSample]) {
    precondition(name.hasSuffix("_total"), "a counter's name ends in _total: \(name)")
    write(name, "counter", help, samples)
  }

  /// Writes a family of values that rise and fall, or nothing if there is no sample: an unknown value is left out.
  public mutating func gauge(_ name: String, _ help: String, _ samples: [MetricSample]) {
    precondition(!name.hasSuffix("_total"), "only a counter's name ends in _total: \(name)")
    write(name, "gauge", help, samples)
  }

  /// Writes a family of distributions in seconds, or nothing if there is none.
  public mutating func histogram(_ name: String, _ help: String, _ histograms: [MetricHistogram]) {
    guard !histograms.isEmpty else { return }
    begin(name, "histogram", help)
    for histogram in histograms {
      for bucket in histogram.buckets {
        line(
          name + "_bucket", histogram.labels + [("le", Self.number(bucket.bound))], Double(bucket.count), reserved: true
        )
      }
      line(name + "_bucket", histogram.labels + [("le", "+Inf")], Double(histogram.count), reserved: true)
      line(name + "_sum", histogram.labels, histogram.sum)
      line(name + "_count", histogram.labels, Double(histogram.count))
    }
  }

  private mutating func write(_ name: String, _ kind: String, _ help: String, _ samples: [MetricSample]) {
    guard !samples.isEmpty else { return }
    begin(name, kind, help)
    for sample in samples { line(name, sample.labels, sample.value) }
  }

  private mutating func begin(_ name: String, _ kind: String, _ help: String) {
    precondition(Self.isName(name, colons: true), "not a metric's name: \(name)")
    precondition(families.insert(name).inserted, "written twice: \(name)")
    text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(kind)\n"
  }

  private mutating func line(
    _ name: String, _ labels: [(name: String, value: String)], _ value: Double, reserved: Bool = false
  ) {
    text += name
    for (index, label) in labels.enumerated() {
      precondition(
        Self.isName(label.name, colons: false) && !label.name.hasPrefix("__") && (reserved || label.name != "le"),
        "not a label's name: \(label.name)")
      text += "\(index == 0 ? "{" : ",")\(label.name)=\"\(Self.escaped(label.value, quotes: true))\""
    }
    text += labels.isEmpty ? " " : "} "
    text += Self.number(value) + "\n"
  }

  /// Returns whether a text is a metric's name, `[a-zA-Z_:][a-zA-Z0-9_:]*`, or without `colons` a label's name, which has no colon.
  private static func isName(_ name: String, colons: Bool) -> Bool {
    guard let first = name.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
    return name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
        true
      default: colons && byte == UInt8(ascii: ":")
      }
    }
  }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    var result = ""
    for character in text.unicodeScalars {
      switch character {
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\"" where quotes: result += "\\\""
      default: result.unicodeScalars.append(character)
      }
    }
    return result
  }

  /// Returns the shortest text that reads back as the same number; a whole number is written without a point.
  private static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    if let whole = Int64(exactly: value) { return String(whole) }
    return "\(value)"
  }
}
