import Glibc
import Robot
import TactusDaemon

/// A drive with a gamepad, until a signal or until the gamepad is unplugged. Shows what it does if there is a terminal.
struct GamepadDrive: ~Copyable {
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

  /// Runs until the end and returns the exit status: 1 if the gamepad was unplugged.
  mutating func run(events: borrowing ServiceEvents) -> Int32 {
    print("driving \(connection.robot) with \(device.name) (\(device.path))\n\(Self.help)")
    fflush(nil)
    while true {
      for event in events.wait(input: isUnplugged ? nil : device.descriptor) {
        switch event {
        case .stop, .reopenLog: connection.ask(.quit)
        case .childEnded: break
        case .input: readEvents()
        case .doorbell:
          if let status = refresh() { return status }
        }
      }
    }
  }

  /// Reads and applies the events that are waiting. A gamepad that is gone stops the robot, and nothing is sent after that.
  private mutating func readEvents() {
    guard let events = device.read() else {
      isUnplugged = true
      connection.steer(.rest)
      connection.ask(.quit)
      return
    }
    for event in events { apply(event) }
    connection.steer(gamepad.input)
  }

  private mutating func apply(_ event: InputEvent) {
    switch gamepad.take(event) {
    case .ask(let request): connection.ask(request)
    case .readAgain: for present in device.presentEvents() { apply(present) }
    case nil: break
    }
  }

  /// Follows the connection; returns the exit status at the end, else `nil`.
  private mutating func refresh() -> Int32? {
    let snapshot = connection.newest()
    if gamepad.isOff != snapshot.connection.isLost {
      gamepad.isOff = snapshot.connection.isLost
      connection.steer(gamepad.input)
    }
    if isShown {
      let lines = DriveScreen.lines(snapshot, tenths: 10, reset: "Start")
      write(screen.frame(lines, width: DriveScreen.width))
    }
    guard case .finished = snapshot.state else { return nil }
    if isShown { write("\n") }
    if isUnplugged { complain("\(device.path): the gamepad is gone; the robot was told to stop") }
    return isUnplugged ? 1 : 0
  }

  /// Writes to the terminal. Text that the terminal does not accept is dropped, since the next frame replaces it.
  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = bytes.withUnsafeBytes { Glibc.write(1, $0.baseAddress, $0.count) }
  }
}
