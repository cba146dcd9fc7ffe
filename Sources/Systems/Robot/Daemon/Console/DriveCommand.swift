import ArgumentParser
import Glibc
import Robot
import Tactus
import TactusDaemon
import Wire

/// The command `tactus drive HOST`.
struct DriveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drive",
    abstract: "Drives a robot from this terminal, or for a script.",
    discussion: """
      Without options: \(DriveScreen.help). Letting go of all keys stops the robot.
      With --gamepad the left stick of a gamepad drives (A stop, B E-STOP, Start reset); unplugged, it stops the robot and \
      the command ends. Full stick is 100 %, or what --linear and --angular say.
      With other options it does one thing and ends; exit status 1 when the robot does not answer or refuses.
      """)

  @Argument(help: "The robot's name or address.")
  var host: String

  @Argument(help: "With --gamepad: its device, /dev/input/event*. The first gamepad unless given.")
  var device: String?

  @Flag(help: "Drive with a gamepad of this machine.")
  var gamepad = false

  @Option(help: "The robot's UDP port.")
  var port: UInt16 = 5005

  @Option(parsing: .unconditional, help: ArgumentHelp("Left wheel, −100…100 %.", valueName: "percent"))
  var left: Double?

  @Option(parsing: .unconditional, help: ArgumentHelp("Right wheel, −100…100 %.", valueName: "percent"))
  var right: Double?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Forwards, −100…100 m/s, for a robot that knows its size.", valueName: "m/s"))
  var linear: Double?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Turn, −100…100 rad/s, positive to the left.", valueName: "rad/s"))
  var angular: Double?

  @Option(name: .customLong("for"), help: ArgumentHelp("How long: 2s, 500ms, 1m.", valueName: "time"))
  var duration: TimeSpan?

  @Flag(help: "Pull the robot's emergency stop.")
  var estop = false

  @Flag(help: "Leave an emergency stop or a fault.")
  var reset = false

  func validate() throws {
    for speed in [left, right].compactMap(\.self) where !(-100...100).contains(speed) {
      throw ValidationError("Expected a wheel speed of −100…100, got \(speed).")
    }
    for speed in [linear, angular].compactMap(\.self) where !(speed.magnitude <= Twist.most) {
      throw ValidationError("Expected −100…100 m/s and rad/s, got \(speed).")
    }
    let (isInPercent, isInSI) = (left != nil || right != nil, linear != nil || angular != nil)
    if device != nil, !gamepad { throw ValidationError("Expected --gamepad with a device, got \(device ?? "").") }
    if gamepad {
      if isInPercent || duration != nil || estop || reset {
        throw ValidationError("Give --gamepad alone, or with --linear and --angular for what full stick asks.")
      }
      if isInSI, !((linear ?? 0) > 0 && (angular ?? 0) > 0) {
        throw ValidationError("Expected both --linear and --angular above 0 for full stick.")
      }
    } else if (isInPercent || isInSI) != (duration != nil) {
      throw ValidationError("Give --left or --right, or --linear or --angular, together with --for.")
    }
    if [isInPercent, isInSI, estop, reset].filter(\.self).count > 1 {
      throw ValidationError("Give one of --left/--right, --linear/--angular, --estop and --reset.")
    }
    if port == 0 { throw ValidationError("Expected a port 1…65535, got 0.") }
  }

  private var task: ScriptedDrive.Task? {
    if estop { return .emergencyStop }
    if reset { return .reset }
    let input: OperatorInput =
      linear != nil || angular != nil
      ? .twist(Twist(metresPerSecond: linear ?? 0, radiansPerSecond: angular ?? 0))
      : .wheels(WheelSpeeds(left: Percent(left ?? 0), right: Percent(right ?? 0)))
    return duration.map { .drive(input, for: $0.nanoseconds) }
  }

  private func openGamepad() throws -> GamepadDevice {
    do throws(GamepadDevice.Failure) {
      if let device { return try GamepadDevice(path: device) }
      return try .first()
    } catch {
      complain(error.text)
      throw ExitCode(1)
    }
  }

  private func driveWithGamepad() throws {
    let events = try ServiceEvents()
    let device = try openGamepad()
    let connection = try OperatorConnection(
      robot: HostName.resolve(host, port: port), bell: events.doorbell.button)
    let reach: Gamepad.Reach =
      linear.flatMap { linear in
        angular.map { .si(Twist(metresPerSecond: linear, radiansPerSecond: $0)) }
      } ?? .percent
    guard let gamepad = device.gamepad(reach) else {
      complain("\(device.path): expected a range of its left stick, got none")
      throw ExitCode(1)
    }
    var drive = GamepadDrive(connection: connection, device: device, gamepad: gamepad)
    try connection.start()
    defer { connection.stop() }
    try drive.run(events: events)
  }

  func run() throws {
    if gamepad { return try driveWithGamepad() }
    // Signals are blocked before the terminal is changed, because a signal must not leave it raw.
    let events = try ServiceEvents()
    let task = task
    if task == nil, isatty(0) == 0 || isatty(1) == 0 {
      complain(
        "expected a terminal; for a script give --left, --right and --for, or --linear, --angular and --for, or --estop, or --reset"
      )
      throw ExitCode(64)
    }
    let connection = try OperatorConnection(
      robot: HostName.resolve(host, port: port), bell: events.doorbell.button)
    try connection.start()
    defer { connection.stop() }
    if let task {
      var drive = ScriptedDrive(connection: connection, task: task)
      try drive.run(events: events)
    } else if let terminal = RawTerminal(0) {
      var drive = InteractiveDrive(connection: connection, terminal: terminal)
      try drive.run(events: events)
    }
  }
}
