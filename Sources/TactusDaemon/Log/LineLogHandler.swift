import Logging
import Service
import Tactus

/// The log handler of this program: it removes secrets, writes the line, and keeps it for the service's log routes.
struct LineLogHandler: LogHandler {
  let label: String
  let format: LogFormat
  let sink: LogSink
  let threshold: LogThreshold
  let history: LogHistory
  let scrubber: LogScrubber
  /// Whether the sink's limiter decides if a line is written.
  let isLimited: Bool
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?
  /// The level set on this logger, or `nil` for the level of the program.
  private var ownLevel: Logger.Level?

  init(
    label: String, format: LogFormat, sink: LogSink, threshold: LogThreshold, history: LogHistory,
    scrubber: LogScrubber, isLimited: Bool = true
  ) {
    (self.label, self.format, self.sink) = (label, format, sink)
    (self.threshold, self.history, self.scrubber, self.isLimited) = (threshold, history, scrubber, isLimited)
  }

  var logLevel: Logger.Level {
    get { ownLevel ?? threshold.level }
    set { ownLevel = newValue }
  }

  subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var members = metadata
    if let provided = metadataProvider?.get() { members.merge(provided) { $1 } }
    if let own = event.metadata { members.merge(own) { $1 } }
    let kind = LogLimiter.Kind(label: label, level: event.level, message: event.message.description, metadata: members)
    // The limit is checked before any work is done for the line.
    if isLimited, let kind, !sink.takes(kind) { return }
    let message = scrubber.scrub(event.message.description)
    let scrubbed = scrubber.scrub(members)
    let timestamp = WallClock.text
    func line(_ format: LogFormat) -> String {
      format.line(level: event.level, label: label, message: message, metadata: scrubbed, timestamp: timestamp)
    }
    let json = line(.json)
    history.append(level: event.level, system: scrubbed["system"]?.description ?? label, text: json)
    sink.write(format == .json ? json : line(format))
    // The program may end after a critical line.
    if event.level == .critical { sink.flush() }
  }
}
