import ArgumentParser
import BusesLinux
import Logging
import Tactus
import TactusGuard

/// The command `tactus guard`: `--outputs FILE -- PROGRAM…` guards the outputs of any program, and `--once --config FILE` writes the
/// safe state once, for a service's stop hook.
///
/// For a stop hook the plan that the daemon has left is used. Without one a plan is made from the configuration; if the plan is damaged,
/// both are written.
///
/// The guard process itself does not use this command: see main.swift.
struct GuardCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "guard",
    abstract: "Makes the outputs of any program safe when it exits, crashes, is killed or hangs.",
    discussion: """
      tactus guard --outputs outputs.yaml -- python3 program.py

      starts a guard process, which opens the outputs in the file, and becomes the program. The guard writes their safe state when the \
      program ends, however it ends. With --timeout the program sends heartbeats, and counts as hanging without them: see \
      docs/guard.md, which has the few lines for Python and C.

      --once writes the safe state of a service whose processes are gone: the plan that it has left, or without a plan what \
      --config says.
      """)

  @Flag(help: "Write the safe state that `tactus run` or `tactus guard` has left as a plan, then exit.")
  var once = false

  @Option(help: ArgumentHelp("The outputs and their safe states (YAML).", valueName: "file"))
  var outputs: String?

  @Option(
    help:
      "The longest time without a heartbeat: 10ms…1d. Unless given, the program sends none, and only its end is seen.")
  var timeout: TimeSpan?

  @Option(name: .customLong("first"), help: "The time in which the first heartbeat is due.")
  var first: TimeSpan = TimeSpan(argument: "30s")!

  @Option(
    name: .customLong("on-hang"),
    help: """
      kill: outputs safe, and the program is killed, so that it cannot write them again. keep: outputs safe until heartbeats come \
      again.
      """)
  var hang = GuardedProgram.Hang.kill

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The configuration file (YAML) of the daemon, for --once.", valueName: "file"))
  var config: String?

  @Option(
    help: ArgumentHelp("The plan for --once.", discussion: SafeStatePlanFile.help, valueName: "file"))
  var plan: String?

  @Option(
    name: .customLong("log-format"), help: "json or text. Unless given, text beside a program, and json for --once.")
  var logFormat: LogFormat?

  @Argument(
    parsing: .remaining,
    help: "For --once the configuration file, without --config; else the program, with its arguments.")
  var words: [String] = []

  func validate() throws {
    guard once else {
      guard outputs != nil else { throw ValidationError("Expected --outputs FILE -- PROGRAM…, or --once.") }
      guard !program.isEmpty else {
        throw ValidationError("Expected a program after --: tactus guard --outputs FILE -- PROGRAM…")
      }
      if config != nil { throw ValidationError("--config is for --once; the program's outputs are in --outputs.") }
      if let timeout, timeout.nanoseconds < .milliseconds(10) {
        throw ValidationError("Expected a --timeout of 10ms…1d, got \(timeout.defaultValueDescription).")
      }
      return
    }
    if outputs != nil { throw ValidationError("Expected either --once or --outputs.") }
    if words.count > 1 {
      throw ValidationError("Expected one configuration file, got \(words.joined(separator: " ")).")
    }
    if let config, let word = words.first {
      throw ValidationError("Expected one configuration file, got two: --config \(config) and \(word).")
    }
    if config == nil, words.isEmpty, plan == nil {
      throw ValidationError("Expected a configuration file: --config FILE; or --plan FILE.")
    }
  }

  /// The program and its arguments, without the `--` before them.
  private var program: [String] { words.first == "--" ? Array(words.dropFirst()) : words }

  /// Guards a program; returns only if it cannot be started.
  private func guardProgram(_ outputs: String) throws {
    let writes: [SafeStateWrite]
    do {
      writes = try GuardOutputsFile.read(path: outputs)
    } catch {
      complain("\(error)")
      throw ExitCode.badConfig
    }
    try GuardedProgram(
      outputs: writes, timeout: timeout?.nanoseconds, first: first.nanoseconds, hang: hang, words: program,
      plan: SafeStatePlanFile(plan, environment: processEnvironment()), logFormat: logFormat ?? .text
    ).run()
  }

  /// The path of the configuration file, which is used if there is no plan.
  private var fallback: String { config ?? words.first ?? "" }

  func run() throws {
    if let outputs { return try guardProgram(outputs) }
    let file = SafeStatePlanFile(plan, environment: processEnvironment())
    switch file?.read() {
    case .whole(let writes):
      // The list is empty if all hardware was simulated.
      if !writes.isEmpty { try make(writes, source: file?.path) }
    case .damaged(let readable, let reason):
      log(
        .error, "the safe-state plan is damaged: what can be read of it is written, then what the configuration says",
        ["plan": .string(file?.path ?? ""), "reason": .string(reason)])
      // The configuration may have changed since the daemon read it. Writing a safe state twice does no harm.
      if !readable.isEmpty { try? make(readable, source: file?.path) }
      do {
        try makeConfigured()
      } catch let error as ExitCode where error == .badConfig {
        log(
          .critical, "the safe state is not confirmed: neither the plan nor the configuration can be used as a whole",
          [
            "plan": .string(file?.path ?? ""), "config": .string(fallback),
            "written": .stringConvertible(readable.count),
          ])
        throw error
      }
    case .missing, nil:
      do {
        try makeConfigured()
      } catch let error as ExitCode where error == .badConfig {
        let missing = file.map { "there is no safe-state plan at \($0.path)" } ?? "no safe-state plan is named (--plan)"
        log(
          .critical, "nothing was written to any actuator: \(missing), and the configuration cannot be used",
          ["config": .string(fallback)])
        throw error
      }
    }
  }

  /// The note beside the plan, or `nil` if there is no place for a plan.
  private var note: SafeStateNote? {
    SafeStatePlanFile(plan, environment: processEnvironment()).map { SafeStateNote(beside: $0.path) }
  }

  /// Writes the safe state that the configuration describes.
  ///
  /// - Throws: `ExitCode.badConfig` before anything is written, if the configuration cannot be used.
  private func makeConfigured() throws {
    guard !fallback.isEmpty else { throw ExitCode.badConfig }
    let configuration = try readConfiguration(fallback, waitingForPipes: false)
    guard configuration.hasSystem else { return }
    // Requesting a line turns it off. It is held until the end, so that no other process gets it meanwhile.
    var held: [LinuxGPIOLines] = []
    var failures: [String] = []
    for line in SafeStatePlan.lines(of: configuration) {
      do { held.append(try HeaderLines.request([line])) } catch { failures.append("\(error)") }
    }
    defer { held = [] }
    try make(SafeStatePlan.writes(for: configuration), besides: failures, source: fallback)
  }

  /// Writes the safe state until it is confirmed, in at most 20 attempts.
  ///
  /// - Parameters:
  ///   - besides: the failures that have occurred already.
  ///   - source: the path of the file from which the writes come, for the log.
  private func make(_ writes: [SafeStateWrite], besides: [String] = [], source: String?) throws {
    let writer = SafeStateWriter(writes, custom: DaemonGuard.outputs)
    var failures: [String] = []
    let began = MonotonicClock.now
    // An unanswered I2C write ends by its own bound; a device that is not there fails at once, hence a bound in tries.
    for _ in 0..<20 {
      failures = writer.write()
      if failures.isEmpty { break }
    }
    failures += besides
    var metadata: Logger.Metadata = ["from": .string(source ?? "")]
    guard !failures.isEmpty else {
      note?.noteHook(writes, began: began)
      return log(.info, GuardReport.done("actuator", unconfirmed: writer.unconfirmed), metadata)
    }
    metadata["failures"] = .array(failures.map { .string($0) })
    log(.critical, "the safe state is not confirmed", metadata)
    throw ExitCode.failure
  }

  private func log(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) {
    LogSink.writeNow(
      (logFormat ?? .json).line(
        level: level, label: "guard", message: message, metadata: metadata, timestamp: WallClock.text))
  }
}
