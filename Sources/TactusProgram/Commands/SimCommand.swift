import ArgumentParser

/// `tactus sim`: a scenario, unless a device is named.
struct SimCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sim",
    abstract: "Plays a scenario in simulated time, or simulates one device in real time.",
    subcommands: [SimScenarioCommand.self, SimPumpCommand.self], defaultSubcommand: SimScenarioCommand.self)
}

/// `tactus sim FILE`
struct SimScenarioCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scenario",
    abstract: "Plays a scenario in simulated time and prints what happened.",
    discussion: """
      The loops are those of `tactus run`; board, bus, wheels, network and operators are simulated, and time is. The same \
      file and seed give the same run. Exit status 1 when an expectation of the file is not met. See config/scenarios/.
      """)

  @Argument(help: "The scenario file (YAML).")
  var file: String

  @Option(help: "Another seed than the file's.")
  var seed: UInt64?

  func run() throws {
    var scenario: Scenario
    do {
      scenario = try ScenarioReader.read(path: file)
    } catch let errors as ConfigErrors {
      complain("\(errors)")
      throw ExitCode.badConfig
    }
    if let seed { scenario.seed = seed }
    var run = try ScenarioRun(scenario) { print($0) }
    if !run.play() { throw ExitCode.failure }
  }
}
