import ArgumentParser
@_spi(FromOutside) import Conversions
import Service
import Tactus

/// The command `tactus healthy`.
struct HealthyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "healthy",
    abstract: "Says whether the running daemon is healthy: exit status 0, or 1 and one line why not.",
    discussion: """
      For hooks after an update: waits until the daemon answers, is of this program's version, has every loop ticking, a \
      guard that watches, its store and its tokens usable and no system in a fault, and has been all that for --steady without a break. Needs no token. \
      docs/updates.md has examples for RAUC, Mender and apt.
      """)

  @Argument(help: "The daemon's name, address or URL.")
  var host = "127.0.0.1"

  @Option(help: "The daemon's port, when the host names none.")
  var port: UInt16 = 8000

  @Option(help: ArgumentHelp("How long to wait for it, 1s…1h.", valueName: "time"))
  var within = LongTimeSpan(argument: "30s")!

  @Option(
    help: ArgumentHelp("How long it must have been healthy without a break, at most --within.", valueName: "time"))
  var steady = TimeSpan(argument: "3s")!

  @Flag(help: "Another version than this program's is healthy, too.")
  var anyVersion = false

  @Flag(
    help: """
      Only that it answers, is of this version and every loop ticks: a disk or hardware that is broken is so under any version.
      """)
  var loopsOnly = false

  @Option(
    help: ArgumentHelp(
      "For https with a self-signed certificate: its SHA-256 fingerprint, as the daemon shows it.", valueName: "hex"))
  var fingerprint: String?

  func validate() throws {
    guard ServiceAddress(host, port: Int(port)) != nil else {
      throw ValidationError("Expected a host name, address or URL without a path, got \(host).")
    }
    guard (1...3_600).contains(within.seconds) else {
      throw ValidationError("Expected a time of 1s…1h for --within.")
    }
    guard steady.nanoseconds <= .seconds(within.seconds) else {
      throw ValidationError(
        "Expected at most the \(within.seconds) s of --within for --steady, got \(steady.defaultValueDescription): give both, as in "
          + "--within 1s --steady 500ms.")
    }
  }

  func run() throws {
    guard let address = ServiceAddress(host, port: Int(port)) else { preconditionFailure("validated") }
    let client = try ServiceClient(address, token: nil, fingerprint: fingerprint)
    defer { client.stop() }
    let bell = try Doorbell()
    let start = MonotonicClock.now
    let end = start + .seconds(within.seconds)
    var watch = HealthWatch(
      since: start, within: .seconds(within.seconds), steady: steady.nanoseconds,
      version: anyVersion ? nil : TactusCommand.version, loopsOnly: loopsOnly)
    while true {
      // No request lasts longer than the rest of the given time.
      let rest = max(.milliseconds(200), end - MonotonicClock.now)
      switch watch.receive(ask(client, bell, limit: min(.seconds(3), rest)), at: MonotonicClock.now) {
      case .healthy(let text): return print("healthy: \(text)")
      case .unhealthy(let reason):
        complain("not healthy: \(reason)")
        throw ExitCode.failure
      // The bell is never rung; its timeout is the pause.
      case .askAgain: bell.wait(limit: .milliseconds(200))
      }
    }
  }

  private func ask(_ client: ServiceClient, _ bell: borrowing Doorbell, limit: Nanoseconds) -> HealthWatch.Answer {
    switch client.ask("/api/health", bell, limit: limit) {
    case .success(let answer): .document(status: answer.status, body: answer.body)
    case .failure(let failure): .silence("\(failure)")
    case nil: .silence("no answer")
    }
  }
}
