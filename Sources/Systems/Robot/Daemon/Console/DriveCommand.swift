import ArgumentParser
import Glibc
import Robot
import Tactus
import TactusDaemon
import Wire

/// `tactus drive HOST`
struct DriveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drive",
    abstract: "Drives a robot from this terminal, or for a script.",
    discussion: """
      Without options: \(DriveScreen.help). Letting go of all keys stops the robot.
      With options it does one thing and ends; exit status 1 when the robot does not answer or refuses.
      """)

  @Argument(help: "The robot's name or address.")
  var host: String

  @Option(help: "The robot's UDP port.")
  var port: UInt16 = 5005

  @Option(parsing: .unconditional, help: ArgumentHelp("Left wheel, −100…100 %.", valueName: "percent"))
  var left: Double?

  @Option(parsing: .unconditional, help: ArgumentHelp("Right wheel, −100…100 %.", valueName: "percent"))
  var right: Double?

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
    let drives = left != nil || right != nil
    if drives != (duration != nil) { throw ValidationError("Give --left or --right together with --for.") }
    if [drives, estop, reset].filter(\.self).count > 1 {
      throw ValidationError("Give one of --left/--right, --estop and --reset.")
    }
    if port == 0 { throw ValidationError("Expected a port 1…65535, got 0.") }
  }

  private var task: ScriptedDrive.Task? {
    if estop { return .emergencyStop }
    if reset { return .reset }
    return duration.map {
      .drive(WheelSpeeds(left: Percent(left ?? 0), right: Percent(right ?? 0)), for: $0.nanoseconds)
    }
  }

  func run() throws {
    // Before the terminal is changed: a signal must not leave it raw.
    let events = try ServiceEvents()
    let task = task
    if task == nil, isatty(0) == 0 || isatty(1) == 0 {
      complain("expected a terminal; for a script give --left, --right and --for, or --estop, or --reset")
      throw ExitCode(64)
    }
    let connection = try OperatorConnection(
      robot: HostName.resolve(host, port: port), bell: events.doorbell.button)
    try connection.start()
    defer { connection.stop() }
    if let task {
      var drive = ScriptedDrive(connection: connection, task: task)
      let status = drive.run(events: events)
      if status != 0 { throw ExitCode(status) }
    } else if let terminal = RawTerminal(0) {
      var drive = InteractiveDrive(connection: connection)
      let status = drive.run(events: events, terminal: terminal)
      if status != 0 { throw ExitCode(status) }
    }
  }
}
