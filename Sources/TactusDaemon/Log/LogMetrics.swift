import Service

/// Metrics of the log: the lines that did not get to where they should.
struct LogMetrics: MetricSource {
  let log: ProgramLog

  func write(into writer: inout MetricsWriter) {
    let missing = log.sink.missing
    writer.counter(
      "tactus_log_lines_lost_total",
      "Log lines that could not be written, or were dropped because they were not taken fast enough.",
      [
        .init(missing.standardError, ["to": "stderr"]), .init(missing.file, ["to": "file"]),
      ])
  }
}
