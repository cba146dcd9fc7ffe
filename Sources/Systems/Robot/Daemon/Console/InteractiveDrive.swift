import Robot
import TactusDaemon

/// An interactive drive from the terminal's keyboard, until `q`, a signal or the end of the input.
struct InteractiveDrive: ~Copyable, OperatorCommand {
  private let connection: OperatorConnection
  private var terminal: RawTerminal
  private var stick = KeyStick()
  private var screen = DriveScreen()

  init(connection: OperatorConnection, terminal: consuming RawTerminal) {
    self.connection = connection
    self.terminal = terminal
  }

  /// Runs until the end.
  mutating func run(events: borrowing ServiceEvents) throws {
    printAtOnce("driving \(connection.robot)\r\n\(DriveScreen.help)\r\n")
    try operate(events: events, input: terminal.descriptor)
  }

  mutating func interrupt() -> Int32? {
    connection.mailbox.ask(.quit)
    return nil
  }

  mutating func readInput() -> Bool {
    guard let keys = terminal.keys() else { return false }
    let now = connection.mailbox.newest.at
    for key in keys.compactMap(DriveKey.init) {
      stick.press(key, at: now)
      switch key {
      case .emergencyStop: connection.mailbox.ask(.emergencyStop)
      case .reset: connection.mailbox.ask(.reset)
      case .quit: connection.mailbox.ask(.quit)
      case .forward, .back, .left, .right, .rest, .speed: break
      }
      connection.mailbox.set(stick.input)
    }
    return true
  }

  mutating func refresh() -> Int32? {
    let snapshot = connection.mailbox.newest
    stick.lapse(at: snapshot.at)
    stick.isOff = snapshot.connection.isLost
    connection.mailbox.set(stick.input)
    printAtOnce(screen.frame(DriveScreen.lines(snapshot, tenths: stick.tenths), width: TerminalSize.current.width))
    guard case .finished = snapshot.state else { return nil }
    printAtOnce("\r\n")
    return 0
  }
}
