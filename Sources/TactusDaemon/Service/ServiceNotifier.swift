import CDaemon
@_spi(FromOutside) import Conversions
import Glibc

/// Reports the service's state to a service manager by the protocol of sd_notify.
struct ServiceNotifier {
  /// The service manager's socket, or `nil` if none is given.
  let socketPath: String?
  /// Whether the service manager's watchdog is for this process: WATCHDOG_PID names no other.
  private let isForUs: Bool
  /// The longest time between two calls of `watchdog`, or `nil` if the service manager does not watch this process.
  let watchdogMicroseconds: Int?

  /// Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID from the environment.
  init(environment: [String: String], process: pid_t = getpid()) {
    socketPath = environment["NOTIFY_SOCKET"]
    isForUs = environment["WATCHDOG_PID"].map { $0 == String(process) } ?? true
    watchdogMicroseconds =
      isForUs ? environment["WATCHDOG_USEC"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } : nil
  }

  func ready(status: String) { send("READY=1\nSTATUS=\(status)\n") }
  func watchdog() { if isForUs { send("WATCHDOG=1\n") } }
  func stopping() { send("STOPPING=1\n") }

  private func send(_ message: String) {
    guard let socketPath else { return }
    // A service manager that does not listen is no reason to stop.
    _ = daemon_notify(socketPath, message)
  }
}
