import ArgumentParser
import BusesLinux
import Logging
import Tactus
import TactusGuard

/// `tactus guard --once --config FILE`: the safe state, written now. For a service's stop hook.
///
/// The plan that the daemon has left counts. Without one it is made from the configuration; if it is damaged, both are written.
///
/// The guard process itself does not pass through here: see main.swift.
struct GuardCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "guard",
    abstract: "Writes the safe state of every actuator, until it is confirmed.",
    discussion: """
      What is written is the plan that `tactus run` has left, so that it does not depend on a file that somebody is editing. Without a \
      plan it is made from the configuration.
      """,
    shouldDisplay: false)

  @Flag(help: "Write the safe state once it can be written, then exit. Required.")
  var once = false

  @OptionGroup var file: ConfigFile

  @Option(
    help: ArgumentHelp("The plan that `tactus run` has left.", discussion: SafeStatePlanFile.help, valueName: "file"))
  var plan: String?

  @Option(name: .customLong("log-format"), help: "json or text.")
  var logFormat = LogFormat.json

  func validate() throws {
    _ = try file.required()
    if !once { throw ValidationError("Expected --once: `tactus run` starts its guard by itself.") }
  }

  /// Used when there is no plan.
  private var config: String { file.path ?? "" }

  func run() throws {
    let file = SafeStatePlanFile(plan, environment: processEnvironment())
    switch file?.read() {
    case .whole(let writes):
      // Empty: all hardware was simulated.
      if !writes.isEmpty { try make(writes, source: file?.path) }
    case .damaged(let readable, let reason):
      log(
        .error, "the safe-state plan is damaged: what can be read of it is written, then what the configuration says",
        ["plan": .string(file?.path ?? ""), "reason": .string(reason)])
      // The configuration may be another one since the daemon read it. To write a safe state twice does no harm.
      if !readable.isEmpty { try? make(readable, source: file?.path) }
      do {
        try makeConfigured()
      } catch let error as ExitCode where error == .badConfig {
        log(
          .critical, "the safe state is not confirmed: neither the plan nor the configuration can be used as a whole",
          ["plan": .string(file?.path ?? ""), "config": .string(config), "written": .stringConvertible(readable.count)])
        throw error
      }
    case .missing, nil:
      do {
        try makeConfigured()
      } catch let error as ExitCode where error == .badConfig {
        let missing = file.map { "there is no safe-state plan at \($0.path)" } ?? "no safe-state plan is named (--plan)"
        log(
          .critical, "nothing was written to any actuator: \(missing), and the configuration cannot be used",
          ["config": .string(config)])
        throw error
      }
    }
  }

  /// Beside the plan.
  private var note: SafeStateNote? {
    SafeStatePlanFile(plan, environment: processEnvironment()).map { SafeStateNote(beside: $0.path) }
  }

  /// - Throws: `ExitCode.badConfig` before anything is written, if the configuration cannot be used.
  private func makeConfigured() throws {
    let configuration = try readConfiguration(config)
    guard configuration.hasSystem else { return }
    // Requesting a line turns it off. It is held until the end, so that no other process gets it meanwhile.
    var held: [LinuxGPIOLines] = []
    var failures: [String] = []
    for line in SafeStatePlan.lines(of: configuration) {
      do { held.append(try HeaderLines.request([line])) } catch { failures.append("\(error)") }
    }
    defer { held = [] }
    try make(SafeStatePlan.writes(for: configuration), besides: failures, source: config)
  }

  /// - Parameters:
  ///   - besides: what has failed already.
  ///   - source: the file that the writes are from.
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
      return log(.info, "every actuator was put into its safe state", metadata)
    }
    metadata["failures"] = .array(failures.map { .string($0) })
    log(.critical, "the safe state is not confirmed", metadata)
    throw ExitCode.failure
  }

  private func log(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) {
    LogSink.writeNow(
      logFormat.line(level: level, label: "guard", message: message, metadata: metadata, timestamp: WallClock.text))
  }
}
