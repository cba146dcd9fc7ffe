import ArgumentParser
import BusesLinux
import Logging
import Tactus
import TactusGuard

/// `tactus guard --once --config FILE`: the safe state, written now. For a service's stop hook.
///
/// The guard process itself does not pass through here: see main.swift.
struct GuardCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "guard",
    abstract: "Writes the safe state of every actuator of a configuration, until it is confirmed.",
    shouldDisplay: false)

  @Flag(help: "Write the safe state once it can be written, then exit. Required.")
  var once = false

  @Option(help: "The configuration file (YAML).")
  var config: String

  @Option(name: .customLong("log-format"), help: "json or text.")
  var logFormat = LogFormat.json

  func validate() throws {
    if !once { throw ValidationError("Expected --once: `tactus run` starts its guard by itself.") }
  }

  func run() throws {
    let configuration = try readConfiguration(config)
    guard configuration.hasSystem else { return }
    // To request a line is to turn it off; held until the end, so that nobody else gets it meanwhile.
    var held: [LinuxGPIOLines] = []
    var lineFailures: [String] = []
    for line in SafeStatePlan.lines(of: configuration) {
      do { held.append(try HeaderLines.request([line])) } catch { lineFailures.append("\(error)") }
    }
    defer { held = [] }
    let writer = SafeStateWriter(
      SafeStatePlan.writes(for: configuration), custom: [GuardRadio.name: GuardRadio.open])
    var failures: [String] = []
    // An unanswered I2C write ends by its own bound; a device that is not there fails at once, hence a bound in tries.
    for _ in 0..<20 {
      failures = writer.write()
      if failures.isEmpty { break }
    }
    failures += lineFailures
    let message =
      failures.isEmpty ? "every actuator was put into its safe state" : "the safe state is not confirmed"
    LogSink.writeNow(
      logFormat.line(
        level: failures.isEmpty ? .info : .critical, label: "guard", message: message,
        metadata: failures.isEmpty ? [:] : ["failures": .array(failures.map { .string($0) })],
        timestamp: WallClock.text))
    if !failures.isEmpty { throw ExitCode.failure }
  }
}
