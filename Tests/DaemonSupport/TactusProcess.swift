import Foundation
import Synchronization
import TestSupport
import Testing

/// The built `tactus`, or another program, run as a child whose standard error (and output) can be waited for without sleeping.
package final class TactusProcess {
  package static let executable = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appending(path: "tactus")

  package let process = Process()
  /// Its home: what it keeps is nobody else's, and what others keep on this machine is not its own.
  private let home: TemporaryFolder
  private let output: Pipe
  private var bytes: [UInt8] = []
  /// A child that is started while another's pipe is being set up inherits its writing end, and the other's streams would
  /// not end before this child does.
  private static let starting = Mutex(())

  /// Everything the child has said so far, both streams.
  package var said: String { String(decoding: bytes, as: UTF8.self) }

  /// `terminal`: standard input and output, instead of nothing and the stream that `waitFor` reads.
  package init(
    executable: URL = TactusProcess.executable, _ arguments: [String], standardInput: FileHandle? = .nullDevice,
    terminal: FileHandle? = nil,
    environment: [String: String] = [:]
  ) throws {
    process.executableURL = executable
    process.arguments = arguments
    process.standardInput = terminal ?? standardInput
    home = try TemporaryFolder()
    process.environment = Self.environment(home: home.url.path(percentEncoded: false)).merging(environment) { $1 }
    let process = process
    output = try Self.starting.withLock { _ in
      let output = Pipe()
      if let terminal { process.standardOutput = terminal } else { process.standardOutput = output }
      process.standardError = output
      try process.run()
      try output.fileHandleForWriting.close()
      return output
    }
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }

  /// This process's environment with all folders of the user's below `home`, and without what a service manager says.
  package static func environment(home: String) -> [String: String] {
    var environment = ProcessInfo.processInfo.environment
    for name in ["RUNTIME_DIRECTORY", "STATE_DIRECTORY", "NOTIFY_SOCKET", "TACTUS_TOKEN"] { environment[name] = nil }
    let own = [
      "HOME": home, "XDG_STATE_HOME": home + "/state", "XDG_CONFIG_HOME": home + "/config",
      "XDG_DATA_HOME": home + "/data", "XDG_CACHE_HOME": caches,
    ]
    return environment.merging(own) { $1 }
  }

  /// Shared, since GStreamer's list of its plug-ins takes seconds to make.
  private static let caches = executable.deletingLastPathComponent().appending(path: "test-caches").path(
    percentEncoded: false)

  package var identifier: pid_t { process.processIdentifier }

  /// Reads what the child says until it contains `text`, the child and its guard have closed their streams, or nothing
  /// comes for `limit` milliseconds. Whether `text` came.
  package func waitFor(_ text: String, limit: Int32 = patience) -> Bool {
    while !said.contains(text) {
      guard let bytes = readWhenReady(output.fileHandleForReading.fileDescriptor, limit: limit), !bytes.isEmpty else {
        return false
      }
      self.bytes += bytes
    }
    return true
  }

  /// As `waitFor`, until it has said it so often.
  package func waitFor(_ text: String, times: Int) -> Bool {
    while said.components(separatedBy: text).count <= times {
      guard let more = readWhenReady(output.fileHandleForReading.fileDescriptor), !more.isEmpty else { return false }
      bytes += more
    }
    return true
  }

  /// Reads what the child says until a whole line contains `text`, as `waitFor` does; nil: it did not come.
  package func line(with text: String) -> String? {
    while true {
      let lines = said.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      if let line = lines.first(where: { $0.contains(text) }) { return String(line) }
      guard let more = readWhenReady(output.fileHandleForReading.fileDescriptor), !more.isEmpty else { return nil }
      bytes += more
    }
  }

  /// Reads to the end of the child's streams, then its exit status; nil when it was ended by a signal.
  package func finish() -> Int32? {
    _ = waitFor("\u{0}")
    process.waitUntilExit()
    return process.terminationReason == .exit ? process.terminationStatus : nil
  }
}

/// Bytes from a descriptor as soon as there are any; empty at the end of the file; nil after `limit` milliseconds.
package func readWhenReady(_ descriptor: Int32, limit: Int32 = patience) -> [UInt8]? {
  var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  guard poll(&waiting, 1, limit) > 0 else { return nil }
  var bytes = [UInt8](repeating: 0, count: 4096)
  let count = read(descriptor, &bytes, bytes.count)
  return Array(bytes.prefix(max(0, count)))
}
