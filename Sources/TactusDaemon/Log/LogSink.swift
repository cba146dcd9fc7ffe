import Glibc
import Logging
import Synchronization
import Tactus

/// Where log lines go: standard error unless the configuration says otherwise, and, when asked for, a file. Each has its own queue and writer, so that neither holds up
/// the other, and no caller that logs.
final class LogSink: Sendable {
  private struct File {
    var path: String
    var outlet: LogOutlet
  }

  private let standardError: LogOutlet
  private let isOnStandardError: Atomic<Bool>
  private let file = Mutex<File?>(nil)
  private let limiter = Mutex(LogLimiter())
  private let tellDropped: @Sendable (Int) -> String

  /// - Parameter console: whether standard error gets the lines.
  init(format: LogFormat, console: Bool = true) {
    isOnStandardError = Atomic(console)
    tellDropped = { count in
      format.line(
        level: .warning, label: "tactus", message: "log lines were dropped: they were not taken fast enough",
        metadata: ["dropped": .stringConvertible(count)], timestamp: WallClock.text)
    }
    standardError = LogOutlet(2, tellDropped: tellDropped)
  }

  /// Whether a line of this kind is to be written; otherwise it is counted for `takeExcess`.
  func takes(_ kind: LogLimiter.Kind) -> Bool { limiter.withLock { $0.take(kind, at: MonotonicClock.now) } }

  /// What was counted in the minute that is over, once; `atOnce` does not wait for its end.
  func takeExcess(atOnce: Bool) -> [LogLimiter.Excess] {
    limiter.withLock { $0.account(at: MonotonicClock.now, atOnce: atOnce) }
  }

  /// Never blocks.
  func write(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    if isOnStandardError.load(ordering: .relaxed) { standardError.put(bytes) }
    file.withLock { $0?.outlet }?.put(bytes)
  }

  /// Returns when all lines so far are written, at the latest after `limit` for each of standard error and the file.
  func flush(limit: Nanoseconds = .milliseconds(200)) {
    standardError.flush(limit: limit)
    file.withLock { $0?.outlet }?.flush(limit: limit)
  }

  /// Appends to `path` from now on. False, with errno set, when it cannot be opened.
  func open(path: String) -> Bool {
    let descriptor = Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0o640)
    guard descriptor >= 0 else { return false }
    file.withLock { file in
      if let outlet = file?.outlet { outlet.replace(descriptor) }
      file = File(path: path, outlet: file?.outlet ?? LogOutlet(descriptor, tellDropped: tellDropped))
    }
    return true
  }

  /// Standard error gets the lines, whatever was asked for: nothing else can have them.
  func useStandardError() { isOnStandardError.store(true, ordering: .relaxed) }

  /// Opens the file anew, after something has moved it away. True when there is none.
  func reopen() -> Bool {
    guard let path = file.withLock({ $0?.path }) else { return true }
    return open(path: path)
  }

  /// For a program without a sink: at once, however long standard error takes.
  static func writeNow(_ line: String) {
    writeAll(Array((line + "\n").utf8), to: 2)
  }

  /// For a program that must never wait and has no thread to spare: what standard error does not take at once is lost.
  static func writeIfTaken(_ line: String) {
    // A pipe that polls writable takes a page without blocking (pipe(7)).
    var waiting = pollfd(fd: 2, events: Int16(truncatingIfNeeded: POLLOUT), revents: 0)
    guard poll(&waiting, 1, 0) == 1, waiting.revents == Int16(truncatingIfNeeded: POLLOUT) else { return }
    var bytes = Array(line.utf8.prefix(4095))
    bytes.append(0x0A)
    _ = Glibc.write(2, bytes, bytes.count)
  }
}
