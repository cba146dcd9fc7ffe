public import Store

/// Whether what is to survive the process does, as metrics.
public struct StoreMetrics: MetricSource {
  private let file: StoreFile

  /// Each `write` asks `file` for its state anew, and waits for no disk.
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
