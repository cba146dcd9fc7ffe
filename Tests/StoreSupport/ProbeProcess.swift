import Foundation
import Glibc
import Synchronization
import Testing

/// `store-probe` as a child, killed without warning.
public final class ProbeProcess {
  public static let executable = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(
    path: "store-probe"
  ).path
  private let identifier: pid_t
  private let output: Int32
  private var rest: [UInt8] = []
  private var isReaped = false

  public init(_ arguments: [String], executable: String = ProbeProcess.executable) throws {
    var ends: [Int32] = [0, 0]
    // Close-on-exec: no child of another test inherits the writing end, which would keep this one's output open.
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    defer { posix_spawn_file_actions_destroy(&actions) }
    var texts = ([executable] + arguments).map { strdup($0) } + [nil]
    defer { for text in texts { free(text) } }
    var child: pid_t = 0
    let result = posix_spawn(&child, executable, &actions, nil, &texts, environ)
    close(ends[1])
    identifier = child
    output = ends[0]
    guard result == 0 else {
      isReaped = true
      throw POSIXError(POSIXErrorCode(rawValue: result) ?? .EIO)
    }
  }

  deinit {
    kill()
    close(output)
  }

  /// The next line; nil: the child has closed its output.
  public func line() -> String? {
    while true {
      if let end = rest.firstIndex(of: 10) {
        defer { rest.removeSubrange(...end) }
        return String(decoding: rest[..<end], as: UTF8.self)
      }
      var chunk = [UInt8](repeating: 0, count: 4096)
      let count = read(output, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      rest += chunk[..<count]
    }
  }

  public func kill() {
    guard !isReaped else { return }
    isReaped = true
    Glibc.kill(identifier, SIGKILL)
    var status: Int32 = 0
    while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
  }
}
