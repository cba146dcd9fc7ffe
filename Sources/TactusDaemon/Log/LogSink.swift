import Glibc
import Logging
import Service
import Synchronization
import Tactus

/// Writes log lines to standard error, unless the configuration switches that off, and to a file, if one is configured.
/// Each has its own queue and writer, so that neither delays the other or a caller that logs.
final class LogSink: Sendable {
  private struct File {
    var path: String
    var outlet: LogOutlet
  }

  private let standardError: LogOutlet
  private let isOnStandardError: Atomic<Bool>
  private let format: LogFormat
  private let file = Mutex<File?>(nil)
  private let limiter = Mutex(LogLimiter())
  private let words: LogOutlet.Words

  /// Makes a sink without a file.
  ///
  /// - Parameter console: whether log lines are written to standard error.
  init(format: LogFormat, console: Bool = true) {
    isOnStandardError = Atomic(console)
    words = LogOutlet.Words(
      dropped: { count in
        format.line(
          level: .warning, label: "tactus", message: "log lines were dropped: they were not taken fast enough",
          metadata: ["dropped": .stringConvertible(count)], timestamp: WallClock.text)
      },
      lost: { count, reason in
        format.line(
          level: .warning, label: "tactus", message: "log lines were lost: they could not be written",
          metadata: ["lost": .stringConvertible(count), "reason": .string(reason)], timestamp: WallClock.text)
      })
    self.format = format
    standardError = LogOutlet(2, words)
  }

  /// The file's path and why lines cannot be written to it, or `nil` if they can or there is no file.
  var fileFailure: (path: String, LogOutlet.Failure)? {
    file.withLock { $0 }.flatMap { file in file.outlet.failure.map { (file.path, $0) } }
  }

  /// The number of lines since the start that did not get to standard error, and to the file.
  var missing: (standardError: Int, file: Int) { (standardError.missing, file.withLock { $0?.outlet }?.missing ?? 0) }

  /// Returns whether a line of this kind is to be written. If not, the line is counted for `takeExcess`.
  func takes(_ kind: LogLimiter.Kind) -> Bool { limiter.withLock { $0.admit(kind, at: MonotonicClock.now) } }

  /// Returns the numbers of lines that were counted in the last complete minute, once; with `atOnce` without waiting for the end of the minute.
  func takeExcess(atOnce: Bool) -> [LogLimiter.Excess] {
    limiter.withLock { $0.account(at: MonotonicClock.now, atOnce: atOnce) }
  }

  /// Queues a line for writing. Never blocks.
  func write(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    if isOnStandardError.load(ordering: .relaxed) { standardError.put(bytes) }
    file.withLock { $0?.outlet }?.put(bytes)
  }

  /// Waits until all lines so far are written, for at most `limit` for each of standard error and the file.
  func flush(limit: Nanoseconds = .milliseconds(200)) {
    standardError.flush(limit: limit)
    file.withLock { $0?.outlet }?.flush(limit: limit)
  }

  /// Appends lines to the file at `path` from now on. A device such as /dev/null and a named pipe that is being read are also accepted.
  ///
  /// - Throws: the reason why it cannot be opened, without waiting.
  func open(path: String) throws(FileFailure) {
    let opened = try openOutside(
      path, O_WRONLY | O_APPEND | O_CREAT, mode: 0o640, alsoTaking: [S_IFCHR, S_IFIFO])
    guard let descriptor = opened else {
      throw FileFailure(path: path, reason: String(cString: strerror(ENOENT)))
    }
    // Opening does not block; writing may, since it has its own thread.
    _ = fcntl(descriptor, F_SETFL, O_APPEND)
    file.withLock { file in
      if let outlet = file?.outlet { outlet.replace(descriptor) }
      file = File(path: path, outlet: file?.outlet ?? LogOutlet(descriptor, wordsOfFile))
    }
  }

  /// The texts for the file's outlet. A failure of the file is also written to standard error, even if that is switched
  /// off, since it could not be reported at once otherwise.
  private var wordsOfFile: LogOutlet.Words {
    var words = words
    words.failed = { [format, standardError, weak self] reason in
      let path = self?.file.withLock { $0?.path } ?? ""
      let line = format.line(
        level: .error, label: "tactus", message: "the log's file cannot be written: lines are lost",
        metadata: ["path": .string(path), "reason": .string(reason)], timestamp: WallClock.text)
      standardError.put(Array((line + "\n").utf8))
    }
    return words
  }

  /// Switches standard error on, whatever was configured, because the lines have no other destination.
  func useStandardError() { isOnStandardError.store(true, ordering: .relaxed) }

  /// Opens the file again, for instance after it was renamed. Does nothing if there is no file.
  func reopen() throws(FileFailure) {
    if let path = file.withLock({ $0?.path }) { try open(path: path) }
  }

  /// Writes a line at once, for a program without a sink. Blocks for as long as standard error takes.
  static func writeNow(_ line: String) {
    writeAll(Array((line + "\n").utf8), to: 2)
  }

  /// Writes a line for a program that must never wait and has no thread to spare. Bytes that standard error does not accept at once are lost.
  static func writeIfTaken(_ line: String) {
    // A pipe that polls writable takes a page without blocking (pipe(7)).
    var waiting = pollfd(fd: 2, events: Int16(truncatingIfNeeded: POLLOUT), revents: 0)
    guard poll(&waiting, 1, 0) == 1, waiting.revents == Int16(truncatingIfNeeded: POLLOUT) else { return }
    var bytes = Array(line.utf8.prefix(4095))
    bytes.append(0x0A)
    _ = Glibc.write(2, bytes, bytes.count)
  }
}
