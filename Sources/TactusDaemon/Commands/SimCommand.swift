import ArgumentParser
import Glibc
import Service

/// `tactus sim`: a scenario, unless a device is named.
struct SimCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    let hasPump = DaemonProgram.current.hasOwnSystems
    return CommandConfiguration(
      commandName: "sim",
      abstract: "Plays a scenario in simulated time" + (hasPump ? ", or simulates one device in real time." : "."),
      subcommands: [SimScenarioCommand.self] + (hasPump ? [SimPumpCommand.self] : []),
      defaultSubcommand: SimScenarioCommand.self)
  }
}

/// `tactus sim FILE`
struct SimScenarioCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scenario",
    abstract: "Plays a scenario in simulated time and prints what happened.",
    discussion: """
      The loops are those of `tactus run`; board, bus, wheels, network and operators are simulated, and time is. A file with \
      a `sprinkler:` part plays days of watering and prints their calendar, one with a `pump:` part a cooling pump with its \
      water and skin, one with a `plants:` part probes in soils that dry, and the messages of the Plant-Tracker app. The same file and seed give the same run. Exit status 1 when an expectation of the file, or anything \
      that must always hold, is not met. See config/scenarios/.
      """)

  @Argument(help: "The scenario file (YAML).")
  var file: String

  @Option(help: "Another seed than the file's.")
  var seed: UInt64?

  func run() throws {
    do {
      let file = try YAMLFile(path: file)
      if try !play(file) { throw ExitCode.failure }
    } catch let errors as ConfigErrors {
      complain("\(errors)")
      if access(file, F_OK) != 0, nearestName(to: file, among: ["pump"]) != nil {
        complain("tactus sim pump simulates a device")
      }
      throw ExitCode.badConfig
    }
  }

  private func play(_ file: YAMLFile) throws -> Bool {
    if SprinklerScenarioReader.reads(file) {
      var scenario = try SprinklerScenarioReader.read(file)
      if let seed { scenario.seed = seed }
      var run = SprinklerScenarioRun(scenario) { print($0) }
      return run.play()
    }
    for system in DaemonProgram.current.systems {
      if let passed = try play(file, system) { return passed }
    }
    if PumpScenarioReader.reads(file) { return try play(file, PumpScenarioReader.self, PumpScenarioRun.init) }
    if PlantScenarioReader.reads(file) { return try play(file, PlantScenarioReader.self, PlantScenarioRun.init) }
    return try play(file, RobotScenarioReader.self, RobotScenarioRun.init)
  }

  /// nil: it is no scenario of this system.
  private func play<System: DeviceSystem>(_ file: YAMLFile, _: System.Type) throws -> Bool? {
    guard DeclaredScenarioReader<System>.reads(file) else { return nil }
    return try play(file, DeclaredScenarioReader<System>.self, DeclaredScenarioRun<System>.init)
  }

  private func play<Reader: ScenarioReader, Run: ScenarioRun>(
    _ file: YAMLFile, _ reader: Reader.Type,
    _ start: (Scenario<Reader.Setup, Reader.Action, Reader.Check>, @escaping (String) -> Void) throws -> Run
  ) throws -> Bool {
    var scenario = try Reader.read(file)
    if let seed { scenario.seed = seed }
    var run = try start(scenario) { print($0) }
    return run.play()
  }
}
