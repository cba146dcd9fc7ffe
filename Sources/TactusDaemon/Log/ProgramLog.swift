import Logging
import Service

/// The program's log: where lines go, the newest of them, the level in effect, what is scrubbed.
public struct ProgramLog: Sendable {
  let sink: LogSink
  let history = LogHistory()
  let threshold: LogThreshold
  private let format: LogFormat
  private let scrubber: LogScrubber

  /// - Parameters:
  ///   - console: whether standard error gets the lines.
  ///   - secrets: texts that must not appear in any line, whatever their shape.
  init(format: LogFormat, level: Logger.Level, console: Bool = true, secrets: [String]) {
    self.format = format
    sink = LogSink(format: format, console: console)
    threshold = LogThreshold(level)
    scrubber = LogScrubber(secrets: secrets)
  }

  /// Makes a logger that writes into this log. It follows the log's level unless its own is set.
  public func logger(_ label: String) -> Logger { logger(label, isLimited: true) }

  private func logger(_ label: String, isLimited: Bool) -> Logger {
    Logger(label: label) { label in
      LineLogHandler(
        label: label, format: format, sink: sink, threshold: threshold, history: history, scrubber: scrubber,
        isLimited: isLimited)
    }
  }

  /// Logs how many lines were not written in the past minute. Called about once a second; `atOnce` at the program's end.
  func tellExcess(atOnce: Bool = false) {
    for excess in sink.takeExcess(atOnce: atOnce) {
      logger(excess.kind?.label ?? "tactus", isLimited: false).log(
        level: excess.kind?.level ?? .notice, "\(excess.message)", metadata: excess.metadata)
    }
  }
}
