import Foundation
import Testing

/// The built `tactus`, or another program, run as a child whose standard error (and output) can be waited for without sleeping.
final class TactusProcess {
  static let executable = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "tactus")

  let process = Process()
  private let output = Pipe()
  /// Everything the child has said so far, both streams.
  private(set) var said = ""

  /// `terminal`: standard input and output, instead of nothing and the stream that `waitFor` reads.
  init(
    executable: URL = TactusProcess.executable, _ arguments: [String], standardInput: FileHandle? = .nullDevice,
    terminal: FileHandle? = nil,
    environment: [String: String] = [:]
  ) throws {
    process.executableURL = executable
    process.arguments = arguments
    process.standardInput = terminal ?? standardInput
    if let terminal { process.standardOutput = terminal } else { process.standardOutput = output }
    process.standardError = output
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    try process.run()
    try output.fileHandleForWriting.close()
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }

  var identifier: pid_t { process.processIdentifier }

  /// Reads what the child says until it contains `text`, the child and its guard have closed their streams, or nothing
  /// comes for `limit` milliseconds. Whether `text` came.
  func waitFor(_ text: String, limit: Int32 = 10_000) -> Bool {
    while !said.contains(text) {
      guard let bytes = readWhenReady(output.fileHandleForReading.fileDescriptor, limit: limit), !bytes.isEmpty else {
        return false
      }
      said += String(decoding: bytes, as: UTF8.self)
    }
    return true
  }

  /// Reads to the end of the child's streams, then its exit status; nil when it was ended by a signal.
  func finish() -> Int32? {
    _ = waitFor("\u{0}")
    process.waitUntilExit()
    return process.terminationReason == .exit ? process.terminationStatus : nil
  }
}

/// Bytes from a descriptor as soon as there are any; empty at the end of the file; nil after `limit` milliseconds.
func readWhenReady(_ descriptor: Int32, limit: Int32 = 10_000) -> [UInt8]? {
  var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  guard poll(&waiting, 1, limit) > 0 else { return nil }
  var bytes = [UInt8](repeating: 0, count: 4096)
  let count = read(descriptor, &bytes, bytes.count)
  return Array(bytes.prefix(max(0, count)))
}
