import ArgumentParser

/// The top-level command, which has the name of the program: `tactus`.
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
        StatusCommand.self, TopCommand.self, LogsCommand.self, CallCommand.self, ReloadCommand.self, RemoteCommand.self,
        SimCommand.self, RecordCommand.self, ReplayCommand.self,
        CheckCommand.self,
        SchemaCommand.self,
        DashboardCommand.self, DoctorCommand.self, SupportCommand.self, BackupCommand.self, RestoreCommand.self,
        ScanCommand.self, SetupCommand.self,
        HealthyCommand.self,
        NotifyCommand.self,
        TokenCommand.self,
        GuardCommand.self,
      ])
  }
}

extension ExitCode {
  /// The exit status 78 for a bad configuration file (EX_CONFIG of sysexits.h).
  static let badConfig = ExitCode(78)
}
