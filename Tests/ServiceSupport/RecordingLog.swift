import Logging
import Synchronization

/// A logger's lines, for tests to read.
package final class RecordingLog: Sendable {
  package struct Line: Sendable {
    package var level: Logger.Level
    package var message: String
    package var metadata: [String: String]
  }
  private let all = Mutex<[Line]>([])

  package init() {}

  package var lines: [Line] { all.withLock { $0 } }

  package var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

  private struct Handler: LogHandler {
    let log: RecordingLog
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace
    subscript(metadataKey key: String) -> Logger.MetadataValue? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let members = metadata.merging(event.metadata ?? [:]) { $1 }
      let line = Line(
        level: event.level, message: event.message.description, metadata: members.mapValues { "\($0)" })
      log.all.withLock { $0.append(line) }
    }
  }
}
