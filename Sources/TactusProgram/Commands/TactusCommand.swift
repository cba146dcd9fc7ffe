import ArgumentParser

/// `tactus`
struct TactusCommand: ParsableCommand {
  static let version = "0.1.0"

  static let configuration = CommandConfiguration(
    commandName: "tactus",
    abstract: "Runs control loops on real-time threads and keeps actuators safe.",
    discussion: """
      Exit status: 0 done, 64 bad usage, 78 bad configuration file, 1 anything else.
      """,
    version: version,
    subcommands: [
      RunCommand.self, DriveCommand.self, OperateLegCommand.self, OperatePumpCommand.self, TopCommand.self,
      SimCommand.self, CheckCommand.self, DoctorCommand.self, SetupCommand.self, HealthyCommand.self,
      TokenCommand.self, GuardCommand.self,
    ])
}

extension ExitCode {
  /// EX_CONFIG of sysexits.h.
  static let badConfig = ExitCode(78)
}
