import Logging
import Tactus

/// swift-log's back end of this program.
struct LineLogHandler: LogHandler {
  let label: String
  let format: LogFormat
  let sink: LogSink
  var logLevel: Logger.Level
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?

  subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var members = metadata
    if let provided = metadataProvider?.get() { members.merge(provided) { $1 } }
    if let own = event.metadata { members.merge(own) { $1 } }
    sink.write(
      format.line(
        level: event.level, label: label, message: event.message.description, metadata: members,
        timestamp: WallClock.text))
  }
}
