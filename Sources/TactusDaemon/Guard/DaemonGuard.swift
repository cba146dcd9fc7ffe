import Confinement
import Glibc
import Logging
import Tactus
import TactusGuard

/// The daemon's guard: `TactusGuard`'s, with a radio, a confinement and a log of the daemon's own.
///
/// `tactus guard --descriptor 3 --timeout-ms 1000 --log-format json WRITE…`, started by `tactus run` before it touches an actuator.
enum DaemonGuard {
  /// Starts the guard and waits until it has opened its devices.
  ///
  /// - Parameter note: an open file in which it notes what it has written, see `SafeStateNote`, or `nil` if it notes nothing.
  static func start(
    _ writes: [SafeStateWrite], timeoutSeconds: Double, watchdog: HardwareWatchdog?, format: LogFormat,
    note: Int32? = nil
  ) throws(GuardError) -> GuardLink {
    var command = GuardLink.Command(
      [DaemonProgram.current.name, "guard"], options: ["log-format": format.name],
      environment: Confinement.childEnvironment)
    if let note { command.descriptors["note"] = note }
    if Spawner.isThere {
      command.starter = GuardLink.Command.Starter(
        start: { Spawner.startSelf($0, descriptors: $1) }, kill: { Spawner.signal($0, SIGKILL) })
    }
    let link = try GuardLink(
      writes: writes, timeout: .milliseconds(Int64(saturating: timeoutSeconds * 1000)),
      period: SupervisorLoop.rate.period,
      watchdog: watchdog, command: command)
    guard let watchdog, link.watchdogTimeout == nil else { return link }
    link.dismiss()
    throw .cannotOpen(link.unopened.filter { $0.hasPrefix(watchdog.path + ":") })
  }

  /// What the program's systems add to the kinds of outputs that a guard knows.
  static var outputs: [String: (String) throws -> any GuardOutput] {
    DaemonProgram.current.kinds.reduce(into: [:]) { $0.merge($1.guardOutputs) { first, _ in first } }
  }

  /// Runs this process as a guard. Returns its exit status, or `nil` if these are not a guard's arguments.
  static func run(_ arguments: [String]) -> Int32? {
    guard let arguments = GuardArguments(arguments, custom: Set(outputs.keys)),
      let format = arguments.options["log-format"].flatMap(LogFormat.init(argument:)),
      Set(arguments.options.keys).isSubset(of: ["log-format", "note"])
    else { return nil }
    var note = arguments.options["note"].flatMap { Int32($0) }.map { SafeStateNote.Writer($0, arguments.writes) }
    let daemon = Int(getppid())
    let watchdog = arguments.watchdog
    var process = GuardProcess(
      arguments, outputs: outputs,
      prepare: { writes in
        guard let missing = GuardConfinement.needs(of: writes, watchdog: watchdog).apply() else { return }
        log(.notice, "the kernel confines the guard only in part", ["left out: \(missing)"], of: daemon, in: format)
      },
      report: { report in
        note?.take(report)
        log(
          report.level, report.message(program: "the daemon", output: "actuator"), report.failures,
          attempt: report.attempt, of: daemon, in: format)
      })
    return process.run()
  }

  private static func log(
    _ level: Logger.Level, _ message: String, _ failures: [String], attempt: Int? = nil, of daemon: Int,
    in format: LogFormat
  ) {
    var metadata: Logger.Metadata = ["daemon": .stringConvertible(daemon)]
    if let attempt { metadata["attempt"] = .stringConvertible(attempt) }
    if !failures.isEmpty { metadata["failures"] = .array(failures.map { .string($0) }) }
    // A full pipe must not come between the guard and the motors.
    LogSink.writeIfTaken(
      format.line(level: level, label: "guard", message: message, metadata: metadata, timestamp: WallClock.text))
  }
}

extension GuardReport {
  fileprivate var level: Logger.Level {
    switch subject {
    case .notOpened, .watchdogNotOpened: .error
    case .back, .watchdogOpened: .notice
    case .madeSafe, .notSafeYet, .gaveUp, .watchdogNotFed, .watchdogLeft: .critical
    }
  }
}
