import BusesLinux

/// Opens a serial line anew whose device has gone, as soon as there is one; its loop then finds it at its next attempt.
///
/// Used by one thread, once a second.
struct LineMender {
  private enum Phase {
    /// For so many seconds without a connection.
    case open(seconds: Int)
    case detached
  }

  let line: LinuxSerialPort
  private var phase = Phase.open(seconds: 0)
  /// A loop tries at least so often itself.
  private static let attemptSeconds = 6

  init(_ line: LinuxSerialPort) { self.line = line }

  /// - Parameter isDown: whether the loop has no connection.
  /// - Returns: whether the line is open again.
  /// - Throws: why it cannot be opened.
  mutating func mend(isDown: Bool) throws(BusOpenError) -> Bool {
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
