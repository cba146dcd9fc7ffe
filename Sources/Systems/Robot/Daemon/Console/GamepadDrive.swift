import Glibc
import Robot
import TactusDaemon

/// A drive with a gamepad, which lasts until a signal comes or the gamepad is unplugged. If there is a terminal, the drive is shown on it.
struct GamepadDrive: ~Copyable, OperatorCommand {
  static let help = "left stick drives   A stop   B E-STOP   Start reset   Ctrl-C quit"

  let connection: OperatorConnection
  private let device: GamepadDevice
  private var gamepad: Gamepad
  private var screen = DriveScreen()
  private let isShown = isatty(1) != 0
  private var isUnplugged = false

  init(connection: OperatorConnection, device: consuming GamepadDevice, gamepad: Gamepad) {
    self.connection = connection
    self.device = device
    self.gamepad = gamepad
  }

  /// Runs until the end. Throws the exit status 1 if the gamepad was unplugged.
  mutating func run(events: borrowing ServiceEvents) throws {
    printAtOnce("driving \(connection.robot) with \(device.name) (\(device.path))\n\(Self.help)\n")
    try operate(events: events, input: device.descriptor)
  }

  mutating func interrupt() -> Int32? {
    connection.mailbox.ask(.quit)
    return nil
  }

  /// Reads and applies the events that are waiting. A gamepad that is gone stops the robot, and nothing is sent after that.
  mutating func readInput() -> Bool {
    guard let events = device.read() else {
      isUnplugged = true
      connection.mailbox.set(.rest)
      return false
    }
    for event in events { apply(event) }
    connection.mailbox.set(gamepad.input)
    return true
  }

  private mutating func apply(_ event: InputEvent) {
    switch gamepad.receive(event) {
    case .ask(let request): connection.mailbox.ask(request)
    case .readAgain: for present in device.presentEvents() { apply(present) }
    case nil: break
    }
  }

  mutating func refresh() -> Int32? {
    let snapshot = connection.mailbox.newest
    if gamepad.isOff != snapshot.connection.isLost {
      gamepad.isOff = snapshot.connection.isLost
      connection.mailbox.set(gamepad.input)
    }
    if isShown {
      let lines = DriveScreen.lines(snapshot, tenths: 10, reset: "Start")
      printAtOnce(screen.frame(lines, width: TerminalSize.current.width))
    }
    guard case .finished = snapshot.state else { return nil }
    if isShown { printAtOnce("\n") }
    if isUnplugged { complain("\(device.path): the gamepad is gone; the robot was told to stop") }
    return isUnplugged ? 1 : 0
  }
}
