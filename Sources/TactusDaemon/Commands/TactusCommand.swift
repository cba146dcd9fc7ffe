import ArgumentParser

/// `tactus`, or what the program is called.
struct TactusCommand: ParsableCommand {
  static var version: String { DaemonProgram.current.version }

  public static var configuration: CommandConfiguration {
    let program = DaemonProgram.current
    return CommandConfiguration(
      commandName: program.name,
      abstract: program.summary,
      discussion: """
        Exit status: 0 done, 64 bad usage, 78 bad configuration file, 1 anything else.
        """,
      version: program.version,
      subcommands: [RunCommand.self] + program.kinds.flatMap(\.commands) + [
        TopCommand.self, CallCommand.self, ReloadCommand.self, SimCommand.self, CheckCommand.self,
        SchemaCommand.self,
        DashboardCommand.self, DoctorCommand.self, SetupCommand.self, HealthyCommand.self, TokenCommand.self,
        GuardCommand.self,
      ])
  }
}

extension ExitCode {
  /// EX_CONFIG of sysexits.h.
  static let badConfig = ExitCode(78)
}
