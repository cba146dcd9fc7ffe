import Glibc
import Robot
import TactusDaemon

/// An interactive drive from the terminal's keyboard, until `q`, a signal or the end of the input.
struct InteractiveDrive {
  let connection: OperatorConnection
  private var decoder = KeyDecoder()
  private var stick = KeyStick()
  private var screen = DriveScreen()

  init(connection: OperatorConnection) {
    self.connection = connection
  }

  /// Runs until the end, restores the terminal and returns the exit status.
  mutating func run(events: borrowing ServiceEvents, terminal: consuming RawTerminal) -> Int32 {
    write("driving \(connection.robot)\r\n\(DriveScreen.help)\r\n")
    var reads: Int32? = 0
    while true {
      for event in events.wait(input: reads) {
        switch event {
        case .stop, .reopenLog: connection.ask(.quit)
        case .childEnded: break
        case .input:
          if !readKeys() {
            // The terminal is gone.
            reads = nil
            connection.ask(.quit)
          }
        case .doorbell:
          let snapshot = connection.newest()
          stick.lapse(at: snapshot.at)
          stick.isOff = snapshot.connection.isLost
          connection.steer(stick.input)
          write(screen.frame(DriveScreen.lines(snapshot, tenths: stick.tenths), width: DriveScreen.width))
          if case .finished = snapshot.state {
            write("\r\n")
            return 0
          }
        }
      }
    }
  }

  /// Reads and applies the keys that are waiting. Returns whether the input goes on; false at its end.
  private mutating func readKeys() -> Bool {
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(0, &bytes, bytes.count)
    guard count > 0 else { return false }
    let now = connection.newest().at
    for byte in bytes[..<count] {
      guard let key = decoder.key(byte) else { continue }
      stick.press(key, at: now)
      switch key {
      case .emergencyStop: connection.ask(.emergencyStop)
      case .reset: connection.ask(.reset)
      case .quit: connection.ask(.quit)
      case .forward, .back, .left, .right, .rest, .speed: break
      }
      connection.steer(stick.input)
    }
    return true
  }

  /// Writes to the terminal. Text that the terminal does not accept is dropped, since the next frame replaces it.
  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = bytes.withUnsafeBytes { Glibc.write(1, $0.baseAddress, $0.count) }
  }
}
