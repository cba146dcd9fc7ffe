import ArgumentParser
import CDaemon
import CProcess
import Confinement
import Glibc
import Logging
import Service
import Store
import WallTime

/// The command `tactus run`.
struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Runs what a configuration file says, until SIGTERM or SIGINT.",
    discussion: """
      Every actuator is stopped before the program ends, however it ends: a guard process stops it when this one dies, \
      hangs or is stopped. Logs go to standard error, unless the file says otherwise. SIGHUP opens the log file anew.
      """)

  @OptionGroup var file: ConfigFile

  @Flag(help: "Simulate every bus, pin and line instead of opening it.")
  var simulate = false

  @Option(
    help: ArgumentHelp(
      "Where to leave the safe-state plan for `tactus guard --once`.", discussion: SafeStatePlanFile.help,
      valueName: "file"))
  var plan: String?

  @Option(help: "json: one object a line; text: for eyes. Unless given: as logging.format of the file says, else json.")
  var logFormat: LogFormat?

  func validate() throws { _ = try file.required() }

  func run() throws {
    daemon_run_below_init(CommandLine.unsafeArgv)
    let config = try file.required()
    // The file cannot be a pipe, since each reload reads it again.
    var (configuration, found) = try readWholeConfiguration(config, waitingForPipes: false)
    guard configuration.hasSystem else {
      let sections = Configuration.systemSections.joined(separator: ", ")
      complain(
        "\(JSONLine.inOneLine(config)): expected a section of a system to run (\(sections)), got none")
      throw ExitCode.badConfig
    }
    if !simulate, let error = configuration.missingWatchdog(ConfigPlaces(marks: found.places)) {
      complain("\(error)")
      throw ExitCode.badConfig
    }
    do throws(ConfigError) {
      try configuration.readSecrets()
      _ = try configuration.service?.clients.read()
    } catch {
      complain("\(error)")
      throw ExitCode.badConfig
    }
    let zone = try machineZone()
    let account: Account?
    do throws(ConfigError) {
      account = try configuration.account(
        from: .current, simulate: simulate, ConfigPlaces(marks: found.places))
    } catch {
      complain("\(error)")
      throw ExitCode.badConfig
    }
    var environment = processEnvironment()
    if let account { environment = try become(account, environment) }
    // Other processes of the same user could read the variable in /proc.
    process_forget_environment("TACTUS_TOKEN")
    let format = logFormat ?? configuration.logPattern.map { .pattern($0) } ?? .json
    let log = ProgramLog(
      format: format, level: Logger.Level(rawValue: configuration.logLevel.lowercased()) ?? .info,
      console: configuration.logsToConsole,
      secrets: [environment["TACTUS_TOKEN"]].compactMap(\.self) + configuration.secrets)
    let status = start(configuration, found, log, format, environment, account, zone)
    log.tellExcess(atOnce: true)
    log.sink.flush()
    throw ExitCode(status)
  }

  /// Changes from root to another account before any file is opened. Returns the environment of that account.
  private func become(_ account: Account, _ environment: [String: String]) throws -> [String: String] {
    let result = account.become()
    guard result == 0, Account.current.user == account.user else {
      complain("this program cannot become \(account.name): \(String(cString: strerror(-result)))")
      throw ExitCode.failure
    }
    account.changeEnvironment()
    return account.environment(from: environment)
  }

  /// Prints the paths that the account of the program cannot access. Returns whether there are none.
  private func isOpen(to account: Account, _ confinement: DaemonConfinement) -> Bool {
    let flaws = confinement.closedToAccount
    for flaw in flaws { complain(JSONLine.inOneLine(flaw)) }
    if !flaws.isEmpty {
      complain("runtime.user is \(account.name): nothing was started, and nothing was changed")
    }
    return flaws.isEmpty
  }

  /// Starts the daemon and runs it until it ends. Returns the exit status.
  private func start(
    _ configuration: Configuration, _ found: ConfigReader.Result, _ log: ProgramLog, _ format: LogFormat,
    _ environment: [String: String], _ account: Account?, _ zone: MachineZone
  ) -> Int32 {
    let logger = log.logger("tactus")
    let owners = PortOwners(of: configuration)
    do {
      try DescriptorLimit.requireLeast()
      // The signals are set up before the first log line, which starts the log's writer thread.
      let events = try ServiceEvents()
      let options = Daemon.Options(
        simulate: simulate, logFormat: format, environment: environment, found: found,
        planFile: SafeStatePlanFile(plan, environment: environment), portOwners: owners, zone: zone)
      // The process is confined while this is its only thread.
      var confinement = DaemonConfinement(configuration, options)
      if let account, !isOpen(to: account, confinement) { return 1 }
      let confined = confinement.apply()
      if let file = configuration.logFile {
        do throws(FileFailure) { try log.sink.open(path: file) } catch {
          log.sink.useStandardError()
          logger.warning(
            "the log file cannot be opened: standard error only",
            metadata: ["file": .string(file), "reason": .string(error.reason)])
        }
      }
      confined.log(to: logger)
      let daemon = try Daemon(configuration, options: options, logger: logger, log: log, events: events)
      return try daemon.run(events: events) {
        // The advice comes after the lines that were logged before it.
        log.sink.flush()
        // Advice is not written to a service manager's journal.
        guard options.environment["NOTIFY_SOCKET"] == nil else { return }
        log.sink.flush()
        print(
          WhatToTry.text(
            program: MakingToken.program(environment), configuration: configuration, simulated: simulate,
            endpoints: daemon.endpoints, service: daemon.service,
            login: configuration.mqtt.flatMap { BrokerLogin.leave($0, environment: environment) }))
        fflush(nil)
      }
    } catch {
      // "Too many open files" does not say how many there should be.
      let reason = DescriptorLimit.shortage.map { "\($0)" } ?? owners.reason(for: error, configuration)
      logger.critical("\(reason)", metadata: (error as? StoreError).map { ["way_out": .string($0.wayOut)] } ?? [:])
      return 1
    }
  }
}
