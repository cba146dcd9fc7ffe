import ArgumentParser
import Glibc
import Service

/// The command `tactus sim`, which plays a scenario unless a device is named.
struct SimCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    let devices = DaemonProgram.current.kinds.flatMap(\.simulatedDevices)
    return CommandConfiguration(
      commandName: "sim",
      abstract: "Plays a scenario in simulated time"
        + (devices.isEmpty ? "." : ", or simulates one device in real time."),
      subcommands: [SimScenarioCommand.self] + devices, defaultSubcommand: SimScenarioCommand.self)
  }
}

/// The command `tactus sim FILE`.
struct SimScenarioCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    let kinds = DaemonProgram.current.kinds.reversed().compactMap(\.scenarioHelp).joined(separator: "; ")
    return CommandConfiguration(
      commandName: "scenario",
      abstract: "Plays a scenario in simulated time and prints what happened.",
      discussion: """
        The loops are those of `run`; buses, networks and what hangs on them are simulated, and time is. What a file plays its parts \
        say: \(kinds). The same file and seed give the same run. Exit status 1 when an expectation of the file, or anything \
        that must always hold, is not met. See config/scenarios/.
        """)
  }

  @Argument(help: "The scenario file (YAML).")
  var file: String

  @Option(help: "Another seed than the file's.")
  var seed: UInt64?

  func run() throws {
    do {
      let file = try YAMLFile(path: file, waitingForPipes: true)
      if try !play(file) { throw ExitCode.failure }
    } catch let errors as ConfigErrors {
      complain("\(errors)")
      let devices = DaemonProgram.current.kinds.flatMap(\.simulatedDevices).compactMap { $0.configuration.commandName }
      if access(file, F_OK) != 0, let device = nearestName(to: file, among: devices) {
        complain("\(DaemonProgram.current.name) sim \(device) simulates a device")
      }
      throw ExitCode.badConfig
    }
  }

  private func play(_ file: YAMLFile) throws -> Bool {
    let kinds = DaemonProgram.current.kinds
    // The kind that plays every other file is asked last.
    for kind in kinds.reversed() {
      if let passed = try kind.play(file, seed: seed) { return passed }
    }
    let known = kinds.filter { $0.scenarioHelp != nil }.map { "\($0.name): …" }.joined(separator: ", ")
    throw ConfigErrors(
      errors: file.errors + [
        ConfigError(file: file.name, key: "", message: "expected a part of a system (\(known)), got none")
      ])
  }
}
