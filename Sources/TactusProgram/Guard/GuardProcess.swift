import CDaemon
import CTactus
import Glibc
import Logging
import Tactus

/// The guard's process: `tactus guard --descriptor 3 --timeout-ms 1000 WRITE…`, started by `tactus run` before it touches
/// an actuator.
///
/// Holds its own descriptors of every actuator, waits for heartbeats on a socket, and makes the safe-state writes when
/// `GuardMachine` says so. Ends only by a goodbye, after a confirmed safe state, or by SIGKILL.
struct GuardProcess {
  static let heartbeat = UInt8(ascii: "h")
  static let goodbye = UInt8(ascii: "g")
  /// Sent once by the guard when its devices are open.
  static let ready = UInt8(ascii: "r")

  private let socket: Int32
  private let writer: SafeStateWriter
  private let daemon: pid_t
  private let format: LogFormat
  private var machine: GuardMachine

  init(socket: Int32, timeoutMilliseconds: Int, writes: [SafeStateWrite], format: LogFormat) {
    self.socket = socket
    self.format = format
    writer = SafeStateWriter(writes)
    daemon = getppid()
    machine = GuardMachine(timeoutMilliseconds: timeoutMilliseconds)
  }

  /// Returns the exit status.
  mutating func run() -> Int32 {
    daemon_ignore_signals()
    // Best effort, like the daemon's own real-time settings: above every lane, and not swapped out when needed.
    _ = tactus_thread_set_fifo(99)
    let failures = writer.open()
    if !failures.isEmpty { log(.error, "a device could not be opened; tried again when needed", failures) }
    if let missing = GuardConfinement.needs(of: writer.writes).apply() {
      log(.notice, "the kernel confines the guard only in part", ["left out: \(missing)"])
    }
    _ = tactus_memory_lock()
    var byte = Self.ready
    daemon_send(socket, &byte, 1)

    var action = GuardMachine.Action.wait(milliseconds: machine.timeoutMilliseconds)
    while true {
      let before = machine.state
      switch action {
      case .wait(let milliseconds):
        let event = wait(milliseconds: milliseconds)
        action = machine.step(event)
        reportReturn(from: before, event)
      case .write:
        let failures = writer.write()
        reportWrite(failures)
        action = machine.step(failures.isEmpty ? .confirmed : .failed)
      case .finish(let status):
        if status != 0 { log(.critical, "gave up: the safe state was never confirmed", []) }
        return Int32(status)
      }
    }
  }

  private func wait(milliseconds: Int) -> GuardMachine.Event {
    var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    if case .retrying(.death, _) = machine.state { descriptor.fd = -1 }
    var count: Int32
    repeat { count = poll(&descriptor, 1, Int32(milliseconds)) } while count < 0
    guard count > 0 else { return .silence }
    var bytes = [UInt8](repeating: 0, count: 256)
    let received = recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    if received <= 0 { return .closed }
    return bytes[..<received].contains(Self.goodbye) ? .goodbye : .heartbeat
  }

  private func reportReturn(from before: GuardMachine.State, _ event: GuardMachine.Event) {
    guard event == .heartbeat, before != .watching else { return }
    writer.release()
    log(.notice, "the daemon's heartbeat is back", [])
  }

  private func reportWrite(_ failures: [String]) {
    guard case .writing(let cause, let attempt) = machine.state else { return }
    let reason = cause == .death ? "the daemon is gone" : "the daemon's heartbeat has lapsed"
    if failures.isEmpty {
      log(.critical, "\(reason): every actuator was put into its safe state", [], attempt: attempt)
    } else if attempt == 1 || attempt.isMultiple(of: 50) {
      log(.critical, "\(reason): the safe state is not confirmed yet", failures, attempt: attempt)
    }
  }

  private func log(_ level: Logger.Level, _ message: String, _ failures: [String], attempt: Int? = nil) {
    var metadata: Logger.Metadata = ["daemon": .stringConvertible(Int(daemon))]
    if let attempt { metadata["attempt"] = .stringConvertible(attempt) }
    if !failures.isEmpty { metadata["failures"] = .array(failures.map { .string($0) }) }
    // A full pipe must not come between the guard and the motors.
    LogSink.writeIfTaken(
      format.line(
        level: level, label: "guard", message: message, metadata: metadata, timestamp: WallClock.text))
  }
}
