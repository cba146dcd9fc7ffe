import ArgumentParser
@_spi(FromOutside) import Conversions
import Foundation
import Tactus
import TactusDaemon

/// The command line of a swarm program.
struct SwarmCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    let program = SwarmProgram.current
    return CommandConfiguration(
      commandName: program.name,
      abstract:
        "Plays random faults and clients against the daemon in simulated time, and checks what must always hold.",
      discussion: """
        The loops are those of the daemon, over simulated hardware and a guard; each seed is a history of requests, faults, kills and restarts. \
        What must hold is looked at before and after every tick, at the outputs of the simulated hardware. A seed that fails prints the \
        shortest history that still fails. The same seed gives the same history and verdict on every machine. At the end it says how often each \
        command, state and fault came about, and what never did: with \(SwarmVerdict.enough) seeds of a minute or more that is a failure, too.
        Parts: \(program.members.map(\.name).joined(separator: ", ")).
        Exit status: 0 every invariant held, 1 one failed or something was never exercised, 64 bad usage.
        """,
      version: DaemonProgram.packageVersion)
  }

  /// The time between two progress reports of a long run, which are written to standard error.
  private static let reportPeriod = Nanoseconds.seconds(30)

  @Option(help: "How many seeds.")
  var seeds = SwarmVerdict.enough

  @Option(help: "The first seed.")
  var first: UInt64 = 1

  @Option(help: "This seed alone.")
  var seed: UInt64?

  @Option(help: ArgumentHelp("Simulated seconds of each seed, 1…86400.", valueName: "seconds"))
  var duration: Int64 = 60

  @Option(help: "Threads, 1…256.")
  var jobs = 1

  @Option(help: ArgumentHelp("Only these systems, separated by commas.", valueName: "names"))
  var systems: String?

  @Option(
    help: ArgumentHelp(
      "Plays the history in a file, as a failing seed prints it, with its own seed.", valueName: "file"))
  var history: String?

  @Flag(help: "What was never exercised is reported, and is no failure.")
  var allowUnexercised = false

  @Flag(help: "Prints the history of the seed, and plays nothing.")
  var print = false

  func validate() throws {
    if seeds == 0 || seeds > 1_000_000_000 { throw ValidationError("--seeds: expected 1…1000000000, got \(seeds).") }
    if first > .max - seeds { throw ValidationError("--first: expected a smaller number, got \(first).") }
    if !(1...86_400).contains(duration) { throw ValidationError("--duration: expected 1…86400, got \(duration).") }
    if !(1...256).contains(jobs) { throw ValidationError("--jobs: expected 1…256, got \(jobs).") }
    let known = SwarmProgram.current.members.map(\.name)
    for name in chosen ?? [] where !known.contains(name) {
      throw ValidationError("--systems: expected \(known.joined(separator: ", ")), got \(name).")
    }
  }

  private var chosen: [String]? { systems?.split(separator: ",").map(String.init) }

  func run() throws {
    let program = SwarmProgram.current
    let swarm = SwarmRun(end: .zero + .seconds(duration)) { [chosen] seed in
      SwarmRemote.commanding(try program.parts(chosen, seed: seed), seed: seed)
    }
    if let history { return try play(file: history, swarm) }
    if let seed, print { return Swift.print(try swarm.history(of: seed)) }
    try play(seeds: seed.map { $0...$0 } ?? first...(first + seeds - 1), swarm)
  }

  private func play(file: String, _ swarm: SwarmRun) throws {
    var swarm = swarm
    let history: SwarmHistory
    do {
      history = try SwarmHistory(text: String(contentsOfFile: file, encoding: .utf8))
    } catch let error as SwarmHistoryError {
      throw ValidationError("\(file): \(error)")
    } catch {
      throw ValidationError("\(file) cannot be read.")
    }
    let failure = try swarm.play(history)
    show(swarm.tally)
    guard let failure else { return Swift.print("every invariant held") }
    Swift.print(Self.failureText(history.seed, failure))
    throw ExitCode.failure
  }

  private func play(seeds: ClosedRange<UInt64>, _ swarm: SwarmRun) throws {
    let began = MonotonicClock.now
    var nextReport = began + Self.reportPeriod
    let (tally, findings) = try SwarmThreads(count: jobs).play(seeds, swarm) { last, simulated in
      guard MonotonicClock.now >= nextReport else { return }
      nextReport = MonotonicClock.now + Self.reportPeriod
      complain("seeds \(seeds.lowerBound)…\(last): every invariant held, \(speed(simulated, since: began))")
    }
    show(tally)
    if let finding = findings.first {
      Swift.print(Self.failureText(finding.history.seed, finding.failure))
      if findings.count > 1 {
        Swift.print(
          "these fail, too: \(findings.dropFirst().map { "\($0.history.seed)" }.joined(separator: ", ")); "
            + "later ones were not played")
      }
      let shortest = try swarm.shortest(finding)
      Swift.print(
        "the shortest history that still fails, \(shortest.history.actions.count) of "
          + "\(finding.history.actions.count) actions; in a file it is played by `--history FILE`:")
      Swift.print("# \(Self.failureText(finding.history.seed, shortest.failure))")
      Swift.print(shortest.history)
      throw ExitCode.failure
    }
    let leftOut = chosen == nil ? SwarmProgram.current.leftOut : []
    let verdict = SwarmVerdict(
      tally, leftOut: leftOut, seeds: UInt64(clamping: seeds.count), seconds: duration,
      allowsUnexercised: allowUnexercised)
    Swift.print("seeds \(seeds.lowerBound)…\(seeds.upperBound) of \(duration) s: \(verdict.words)")
    complain(speed(tally.time, since: began))
    if verdict.isFailure { throw ExitCode.failure }
  }

  /// Prints the number of checks of each invariant, and the numbers of commands, states and faults that occurred.
  private func show(_ tally: SwarmTally) {
    for row in tally.rows { Swift.print("\(row.part): \(row.invariant): \(row.looks) looks") }
    for line in tally.exercisedLines { Swift.print(line) }
  }

  private func speed(_ simulated: Nanoseconds, since began: TickInstant) -> String {
    let (hours, took) = (simulated.inSeconds / 3_600, (MonotonicClock.now - began).inSeconds)
    func rounded(_ value: Double) -> String { String(format: "%.2f", value) }
    return "\(rounded(hours)) h simulated in \(rounded(took)) s: \(rounded(hours / took)) h a second, "
      + "\(rounded(hours / took / Double(jobs))) for each of \(jobs) threads"
  }

  static func failureText(_ seed: UInt64, _ failure: SwarmWorld.Failure) -> String {
    "seed \(seed) fails at \(SwarmAction.text(failure.failure.at)) s: \(failure.part): \(failure.failure.invariant): "
      + failure.failure.what
  }
}
