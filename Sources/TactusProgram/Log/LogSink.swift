import Glibc
import Synchronization

/// Where log lines go: standard error and, when asked for, a file. Each line is one write(2).
final class LogSink: Sendable {
  private struct File {
    var path: String
    var descriptor: Int32
  }

  private let file = Mutex<File?>(nil)

  func write(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    Self.writeAll(bytes, to: 2)
    file.withLock { file in
      if let file { Self.writeAll(bytes, to: file.descriptor) }
    }
  }

  /// Appends to `path` from now on. False, with errno set, when it cannot be opened.
  func open(path: String) -> Bool {
    let descriptor = Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0o640)
    guard descriptor >= 0 else { return false }
    file.withLock { file in
      if let file { close(file.descriptor) }
      file = File(path: path, descriptor: descriptor)
    }
    return true
  }

  /// Opens the file anew, after something has moved it away. True when there is none.
  func reopen() -> Bool {
    guard let path = file.withLock({ $0?.path }) else { return true }
    return open(path: path)
  }

  private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + done, bytes.count - done) }
      if count < 0 && errno == EINTR { continue }
      // A log that cannot be written is lost: nobody is left to tell.
      guard count > 0 else { return }
      done += count
    }
  }
}
