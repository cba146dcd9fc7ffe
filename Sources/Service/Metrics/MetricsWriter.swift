/// Writes metrics in Prometheus' text format 0.0.4.
///
/// A family is written whole, by one call. A name that the format does not allow, a counter without `_total`, a family that is
/// written twice: our bugs, and it traps.
/// Source: prometheus.io/docs/instrumenting/exposition_formats, "Text-based format".
public struct MetricsWriter: Sendable {
  /// Of a scrape's answer.
  public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  /// What has been written so far.
  public private(set) var text = ""
  private var families: Set<String> = []

  /// An empty page. Each scrape has a writer of its own.
  public init() {}

  /// Something that only grows while the daemon lives. Nothing is written when there is no sample.
  public mutating func counter(_ name: String, _ help: String, _ samples: [MetricSample]) {
    precondition(name.hasSuffix("_total"), "a counter's name ends in _total: \(name)")
    write(name, "counter", help, samples)
  }

  /// Something that goes up and down. Nothing is written when there is no sample: what is unknown is absent.
  public mutating func gauge(_ name: String, _ help: String, _ samples: [MetricSample]) {
    precondition(!name.hasSuffix("_total"), "only a counter's name ends in _total: \(name)")
    write(name, "gauge", help, samples)
  }

  /// Distributions, in seconds. Nothing is written when there is none.
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

  /// `[a-zA-Z_:][a-zA-Z0-9_:]*`, in labels without the colon.
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

  /// The shortest text that reads back as the same number; whole numbers without a point.
  private static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    if let whole = Int64(exactly: value) { return String(whole) }
    return "\(value)"
  }
}
