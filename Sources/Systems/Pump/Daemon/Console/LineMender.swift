import BusesLinux
import Logging

/// Reopens a serial line whose device has disappeared, as soon as the device is back; the loop uses the line at its next attempt to connect.
///
/// Use it on one thread, once a second.
struct LineMender {
  private enum Phase {
    /// The line is open and has been without a connection for this number of seconds.
    case open(seconds: Int)
    case detached
  }

  let line: LinuxSerialPort
  private var phase = Phase.open(seconds: 0)
  /// The longest time between two attempts of the loop to connect.
  private static let attemptSeconds = 6

  init(_ line: LinuxSerialPort) { self.line = line }

  /// Reopens the line if necessary. Logs that the line is open again, and at debug level why it is not.
  ///
  /// - Parameters:
  ///   - isDown: whether the loop has no connection.
  ///   - name: the name of the line in the log.
  mutating func mend(isDown: Bool, _ name: String, _ logger: Logger) {
    do throws(BusOpenError) {
      guard try mend(isDown: isDown) else { return }
      logger.notice("the pump's line is open again", metadata: ["system": "pump", "line": .string(name)])
    } catch {
      logger.debug("the pump's line cannot be opened", metadata: ["system": "pump", "reason": .string("\(error)")])
    }
  }

  /// Returns whether the line is open again.
  private mutating func mend(isDown: Bool) throws(BusOpenError) -> Bool {
    guard isDown else {
      phase = .open(seconds: 0)
      return false
    }
    switch phase {
    case .open(let seconds) where seconds < Self.attemptSeconds: phase = .open(seconds: seconds + 1)
    case .open:
      try line.detach()
      phase = .detached
    case .detached:
      try line.reopen()
      phase = .open(seconds: 0)
      return true
    }
    return false
  }
}
