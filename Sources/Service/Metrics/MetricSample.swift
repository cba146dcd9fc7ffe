import Tactus

/// One value of a metric family, distinguished from the others by its labels.
public struct MetricSample: Sendable {
  let labels: [(name: String, value: String)]
  let value: Double

  /// Makes a sample.
  ///
  /// - Parameters:
  ///   - value: the value in base units: seconds, bytes, ratios. NaN and infinities are allowed.
  ///   - labels: the labels in the order in which they are printed.
  public init(_ value: Double, _ labels: KeyValuePairs<String, String> = [:]) {
    self.init(value, labels: labels.map { ($0.key, $0.value) })
  }

  /// Makes a sample with labels that are computed while the program runs.
  public init(_ value: Double, labels: [(name: String, value: String)]) {
    self.labels = labels
    self.value = value
  }

  /// Makes a sample of a whole number with labels that are computed while the program runs. A number beyond 2⁵³ is rounded to a `Double`.
  public init(_ value: some BinaryInteger, labels: [(name: String, value: String)]) {
    self.init(Double(value), labels: labels)
  }

  /// Makes a sample of a whole number, which is rounded to a `Double` beyond 2⁵³.
  public init(_ value: some BinaryInteger, _ labels: KeyValuePairs<String, String> = [:]) {
    self.init(Double(value), labels)
  }

  /// Makes a sample that is 1 for `true` and 0 for `false`.
  public init(_ value: Bool, _ labels: KeyValuePairs<String, String> = [:]) { self.init(value ? 1.0 : 0, labels) }

  /// Makes a sample of a time span, in seconds.
  public init(_ value: Nanoseconds, _ labels: KeyValuePairs<String, String> = [:]) {
    self.init(value.inSeconds, labels)
  }
}

/// One histogram of a metric family, distinguished from the others by its labels.
public struct MetricHistogram: Sendable {
  let labels: [(name: String, value: String)]
  /// The upper bounds in seconds, ascending, each with the number of values that do not exceed it.
  let buckets: [(bound: Double, count: UInt64)]
  let count: UInt64
  let sum: Double

  /// Converts the runtime's histogram to 24 buckets of 1.023 µs…8.6 s, each twice as wide as the one before.
  ///
  /// The bounds are the last whole nanoseconds below the powers of two from 2¹⁰ to 2³³, at which buckets of the runtime
  /// end, so that every count is exact.
  public init(_ histogram: HistogramSnapshot, _ labels: KeyValuePairs<String, String> = [:]) {
    self.labels = labels.map { ($0.key, $0.value) }
    var buckets: [(bound: Double, count: UInt64)] = []
    var seen: UInt64 = 0
    var next: Int64 = 1 << 10
    for (index, count) in histogram.counts.enumerated() {
      if HistogramSnapshot.bounds(ofBucket: index).lowerBound == next, next <= 1 << 33 {
        buckets.append((Double(next - 1) / 1e9, seen))
        next *= 2
      }
      seen += count
    }
    self.buckets = buckets
    count = seen
    sum = histogram.sum.inSeconds
  }
}
