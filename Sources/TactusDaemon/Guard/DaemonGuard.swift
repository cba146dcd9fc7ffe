import Confinement
@_spi(FromOutside) import Conversions
import Glibc
import Logging
import Tactus
import TactusGuard

/// The daemon's guard: the process of `TactusGuard` with the daemon's additional outputs, confinement and log.
///
/// The command line is `tactus guard --descriptor 3 --timeout-ms 1000 --log-format json WRITE…`; `tactus run` starts
/// the guard before it uses an actuator.
enum DaemonGuard {
  /// The time that the daemon may take from the start of the guard to that of its loops, before which nothing is driven. On a slow or busy machine
  /// the timeout would be over before, and the first command would not be obeyed. From the start of the loops on the timeout counts.
  static let startUp = Nanoseconds.seconds(10)

  /// Starts the guard, waits until it has opened its devices, and returns the link to it.
  ///
  /// - Parameter note: an open file in which the guard notes its writes, see `SafeStateNote`, or `nil` for no note.
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
        start: { Spawner.startSelf($0, descriptors: $1) }, declare: { _ = Spawner.declareSelf($0, descriptors: $1) },
        kill: { Spawner.signal($0, SIGKILL) })
    }
    let link = try GuardLink(
      writes: writes, timeout: .milliseconds(Int64(saturating: timeoutSeconds * 1000)),
      period: SupervisorLoop.rate.period, first: Self.startUp, watchdog: watchdog, command: command)
    guard let watchdog, link.watchdogTimeout == nil else { return link }
    link.dismiss()
    throw .cannotOpen(link.unopened.filter { $0.hasPrefix(watchdog.path + ":") })
  }

  /// The kinds of outputs that the program's systems add to those that a guard knows.
  static var outputs: [String: (String) throws -> any GuardOutput] {
    DaemonProgram.current.kinds.reduce(into: [:]) { $0.merge($1.guardOutputs) { first, _ in first } }
  }

  /// Runs this process as a guard. Returns its exit status, or `nil` if the arguments are not those of a guard.
  static func run(_ arguments: [String]) -> Int32? {
    guard let arguments = GuardArguments(arguments, custom: Set(outputs.keys)),
      let format = arguments.options["log-format"].flatMap(LogFormat.init(argument:)),
      Set(arguments.options.keys).isSubset(of: ["log-format", "note", "name"])
    else { return nil }
    var note = arguments.options["note"].flatMap { Int32($0) }.map {
      SafeStateNote.Writer($0, arguments.writes, of: arguments.options["name"] ?? "the daemon")
    }
    let daemon = Int(getppid())
    let watchdog = arguments.watchdog
    let other = arguments.other != nil
    let name = arguments.options["name"] ?? "the daemon"
    var process = GuardProcess(
      arguments, outputs: outputs,
      prepare: { writes in
        // A guard of another program is not confined: it only kills and starts programs, as that program itself could.
        guard !other, let missing = GuardConfinement.needs(of: writes, watchdog: watchdog).apply() else { return }
        log(.notice, "the kernel confines the guard only in part", ["left out: \(missing)"], of: daemon, in: format)
      },
      report: { report in
        // If the process cannot become the other program, it reports that itself.
        if other, report.subject == .notOpened { return }
        note?.receive(report)
        log(
          other ? report.levelOfOther : report.level,
          report.message(program: name, output: other ? "output" : "actuator"), report.failures,
          attempt: report.attempt, of: daemon, as: other ? "program" : "daemon", in: format)
      })
    return process.run()
  }

  private static func log(
    _ level: Logger.Level, _ message: String, _ failures: [String], attempt: Int? = nil, of program: Int,
    as key: String = "daemon", in format: LogFormat
  ) {
    var metadata: Logger.Metadata = [key: .stringConvertible(program)]
    if let attempt { metadata["attempt"] = .stringConvertible(attempt) }
    if !failures.isEmpty { metadata["failures"] = .array(failures.map { .string($0) }) }
    // A full pipe must not delay the guard's writes.
    LogSink.writeIfTaken(
      format.line(level: level, label: "guard", message: message, metadata: metadata, timestamp: WallClock.text))
  }
}

extension GuardReport {
  /// The level of a report about another program, whose end may be intended: whoever started it sees its exit status.
  /// The first failed attempt is a warning, because a command may take some time to confirm.
  fileprivate var levelOfOther: Logger.Level {
    switch subject {
    case .madeSafe(.death): .notice
    case .notSafeYet where attempt == 1: .warning
    default: level
    }
  }

  fileprivate var level: Logger.Level {
    switch subject {
    case .notOpened, .watchdogNotOpened: .error
    case .back, .watchdogOpened: .notice
    case .madeSafe, .notSafeYet, .killed, .gaveUp, .watchdogNotFed, .watchdogLeft: .critical
    }
  }
}
