import BusesLinux
import Foundation
import Synchronization
import TestSupport

/// `guard-probe`, an embedder's program, run as a child, and the serial line whose safe state its guard writes.
final class GuardProbeProcess {
  private let process = Process()
  private let terminal: LinuxPTY
  private let output = Pipe()
  private var said = ""
  /// A child that is started while another's pipe is being made inherits its writing end.
  private static let starting = Mutex(())

  /// - Parameters:
  ///   - timeout: of the guard, in milliseconds. Long unless it is to pass: on a loaded machine a test may be slow.
  ///   - redirections: as a shell has them, of the program's standard streams.
  init(_ ending: String, timeout: Int = 600_000, redirections: String = "") throws {
    terminal = try LinuxPTY()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [
      "-c", "exec \"$@\" \(redirections)", "sh", Self.program.path, terminal.path, "\(timeout)", ending,
    ]
    process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = output
    try Self.starting.withLock { _ in
      try process.run()
      try output.fileHandleForWriting.close()
    }
  }

  /// The program itself.
  static var program: URL {
    URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "guard-probe")
  }

  deinit {
    if process.isRunning { process.signal(SIGKILL) }
  }

  var identifier: pid_t { process.processIdentifier }

  func signal(_ number: Int32) { process.signal(number) }

  /// The guard's process: the program's only child.
  var guardIdentifier: pid_t? {
    let path = "/proc/\(identifier)/task/\(identifier)/children"
    return (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: " ").first.flatMap { pid_t($0) }
  }

  /// Whether the program or its guard says `text`, before both have ended.
  func says(_ text: String) -> Bool {
    while !said.contains(text) {
      guard let bytes = readWhenReady(output.fileHandleForReading.fileDescriptor), !bytes.isEmpty else { return false }
      said += String(decoding: bytes, as: UTF8.self)
    }
    return true
  }

  /// All that both have said until they have ended.
  func finish() -> String {
    _ = says("\u{0}")
    process.waitUntilExit()
    return said
  }

  /// Whether the safe state arrives on the line.
  func isMadeSafe() -> Bool {
    var heard: [UInt8] = []
    while heard.count < 4 {
      guard let bytes = readWhenReady(terminal.descriptor) else { return false }
      heard += bytes
    }
    return heard.starts(with: Array("SAFE".utf8))
  }

  /// Whether nothing has arrived on the line.
  var isUntouched: Bool { readWhenReady(terminal.descriptor, limit: 0) == nil }
}

extension Process {
  fileprivate func signal(_ number: Int32) { kill(processIdentifier, number) }
}

/// Bytes from a descriptor as soon as there are any; empty at the end of the file; `nil` after `limit` milliseconds.
func readWhenReady(_ descriptor: Int32, limit: Int32 = patience) -> [UInt8]? {
  var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  guard poll(&waiting, 1, limit) > 0 else { return nil }
  var bytes = [UInt8](repeating: 0, count: 4096)
  let count = read(descriptor, &bytes, bytes.count)
  return Array(bytes.prefix(max(0, count)))
}
