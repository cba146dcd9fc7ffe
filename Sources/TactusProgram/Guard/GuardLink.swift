import CDaemon
import Glibc

/// The daemon's end of the guard: starts it, tells it that all is well, says goodbye.
///
/// The socket keeps its descriptor number when the guard is started anew, so that the loop that sends the heartbeats
/// needs to know nothing of it.
final class GuardLink {
  enum Failure: Error, Equatable, CustomStringConvertible {
    case notStarted(errno: Int32)
    /// It did not report ready within five seconds, or died before.
    case notReady

    var description: String {
      switch self {
      case .notStarted(let errno): "the guard process could not be started: \(String(cString: strerror(errno)))"
      case .notReady: "the guard process did not become ready"
      }
    }
  }

  let writes: [SafeStateWrite]
  let timeoutMilliseconds: Int
  let format: LogFormat
  /// The socket to send heartbeats to.
  private(set) var socket: Int32 = -1
  private(set) var process: pid_t = 0

  /// Starts the guard and waits until it has opened its devices.
  init(writes: [SafeStateWrite], timeoutMilliseconds: Int, format: LogFormat) throws(Failure) {
    self.writes = writes
    self.timeoutMilliseconds = timeoutMilliseconds
    self.format = format
    try start()
  }

  deinit {
    if socket >= 0 { close(socket) }
  }

  /// Starts another guard after the first was found dead.
  func restart() throws(Failure) {
    try start()
  }

  /// Whether `process` has ended; takes its exit status off the kernel then.
  func hasEnded() -> Bool {
    var status: Int32 = 0
    return waitpid(process, &status, WNOHANG) == process
  }

  /// The guard's orderly end: to be called only when every actuator is confirmed to be in its safe state. Waits at most
  /// two seconds for it.
  func sayGoodbye() {
    var byte = GuardProcess.goodbye
    daemon_send(socket, &byte, 1)
    var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    if poll(&descriptor, 1, 2000) > 0 {
      var status: Int32 = 0
      waitpid(process, &status, 0)
    }
  }

  private func start() throws(Failure) {
    var pair: [Int32] = [-1, -1]
    let made = daemon_socket_pair(&pair)
    guard made >= 0 else { throw .notStarted(errno: -made) }
    // The guard's own numbers for the lines that it inherits: from 4 on.
    let inherited = writes.compactMap(\.heldDescriptor)
    var next: Int32 = 4
    let theirs = writes.map { write in
      guard write.heldDescriptor != nil else { return write }
      defer { next += 1 }
      return write.held(by: next)
    }
    let arguments =
      ["tactus", "guard", "--descriptor", "3", "--timeout-ms", String(timeoutMilliseconds)]
      + ["--log-format", format.rawValue] + theirs.map(\.description)
    var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    let spawned = daemon_spawn_self(&pointers, pair[1], inherited, Int32(inherited.count))
    close(pair[1])
    guard spawned > 0 else {
      close(pair[0])
      throw .notStarted(errno: -spawned)
    }
    process = spawned
    if socket >= 0 {
      dup2(pair[0], socket)
      _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
      close(pair[0])
    } else {
      socket = pair[0]
    }
    try waitUntilReady()
  }

  private func waitUntilReady() throws(Failure) {
    var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    guard poll(&descriptor, 1, 5000) > 0 else { throw .notReady }
    var byte: UInt8 = 0
    guard recv(socket, &byte, 1, 0) == 1, byte == GuardProcess.ready else { throw .notReady }
  }
}
