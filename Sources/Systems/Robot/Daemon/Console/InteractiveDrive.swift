import Glibc
import Robot
import TactusDaemon

/// Driving from the terminal's keyboard until `q`, a signal or the end of the input.
struct InteractiveDrive {
  let connection: OperatorConnection
  private var decoder = KeyDecoder()
  private var stick = KeyStick()
  private var screen = DriveScreen()

  init(connection: OperatorConnection) {
    self.connection = connection
  }

  /// The terminal is as before when this returns. The exit status.
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
          write(screen.frame(DriveScreen.lines(snapshot, tenths: stick.tenths), width: width))
          if case .finished = snapshot.state {
            write("\r\n")
            return 0
          }
        }
      }
    }
  }

  /// False at the end of the input.
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

  private var width: Int {
    var size = winsize()
    return ioctl(1, UInt(truncatingIfNeeded: TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }

  /// Dropped when the terminal takes no more: the next frame replaces it.
  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = bytes.withUnsafeBytes { Glibc.write(1, $0.baseAddress, $0.count) }
  }
}
