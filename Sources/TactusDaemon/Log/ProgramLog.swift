import Logging
import Service

/// The program's log: its sink, the newest lines, the level in effect, and the removal of secrets.
public struct ProgramLog: Sendable {
  let sink: LogSink
  let history = LogHistory()
  let threshold: LogThreshold
  private let format: LogFormat
  private let scrubber: LogScrubber

  /// Makes the log of a program.
  ///
  /// - Parameters:
  ///   - console: whether log lines are written to standard error.
  ///   - secrets: texts that must not appear in any line, whatever their form.
  init(format: LogFormat, level: Logger.Level, console: Bool = true, secrets: [String]) {
    self.format = format
    sink = LogSink(format: format, console: console)
    threshold = LogThreshold(level)
    scrubber = LogScrubber(secrets: secrets)
  }

  /// The failure to write lines to the log's file, as a trouble, or `nil` if lines can be written or there is no file.
  var trouble: ServiceTrouble? {
    sink.fileFailure.map { path, failure in
      ServiceTrouble(
        code: "LOG_FAILED",
        message: "the log's file \(path) cannot be written (\(failure.reason)): \(failure.lost) lines are lost so far")
    }
  }

  /// Returns a logger that writes to this log. It follows the log's level unless its own is set.
  public func logger(_ label: String) -> Logger { logger(label, isLimited: true) }

  private func logger(_ label: String, isLimited: Bool) -> Logger {
    Logger(label: label) { label in
      LineLogHandler(
        label: label, format: format, sink: sink, threshold: threshold, history: history, scrubber: scrubber,
        isLimited: isLimited)
    }
  }

  /// Logs how many lines were not written in the past minute. The function is to be called about once a second, and with `atOnce` at the program's
  /// end.
  func tellExcess(atOnce: Bool = false) {
    for excess in sink.takeExcess(atOnce: atOnce) {
      logger(excess.kind?.label ?? "tactus", isLimited: false).log(
        level: excess.kind?.level ?? .notice, "\(excess.message)", metadata: excess.metadata)
    }
  }
}

/// The metrics of the log, which count the lines that were lost.
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
