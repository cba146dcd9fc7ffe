public import Store

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
