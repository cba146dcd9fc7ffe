import ArgumentParser
import Service
import Tactus

/// The command `tactus call`.
struct CallCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    let call = "\(DaemonProgram.current.name) call"
    let examples = DaemonProgram.current.kinds.flatMap(\.callExamples).map { "  \(call) \($0)" }.joined(separator: "\n")
    return CommandConfiguration(
      commandName: "call",
      abstract: "Has a running daemon carry out a command, or tell a state; alone, lists its commands.",
      discussion: """
        Examples:
          \(call)
        \(examples)
          \(call) --host NAME.local status
          \(call) e-stop
        The words are a path below /api of the daemon's HTTP service. With values, or where there is nothing to look at, \
        it is a command (POST), otherwise a look (GET). NAME=VALUE is typed as the daemon describes it, NAME:=JSON is JSON, \
        :=JSON is the whole body, which only the daemon checks. The answer goes to standard output as JSON, an error to standard \
        error.
        An emergency stop is sent at once, without asking the daemon first what it can do. A reset that is refused is asked \
        for again for 5 s: until then sticks come to rest, and outputs confirm that they are off.
        \(DaemonOptions.tokens)
        Exit status: 0 done; 64 the words are none that the daemon's description allows (names, types, ranges, what is required), and \
        nothing was sent; 1 refused by the daemon, or not reached.
        """)
  }

  @Option(
    help:
      "The daemon's name, address or URL: NAME.local, 192.168.1.7:8000, https://NAME.local:8000. Unless given: this machine's daemon."
  )
  var host: String?

  @OptionGroup var daemon: DaemonOptions

  @Option(help: "get, post, put or delete, where it is not clear.")
  var method: Method?

  @Flag(help: "The answer in one line.")
  var json = false

  @Argument(help: ArgumentHelp("The command, then NAME=VALUE or NAME:=JSON.", valueName: "words"))
  var words: [String] = []

  enum Method: String, ExpressibleByArgument, CaseIterable {
    case get, post, put, delete
  }

  func validate() throws {
    try daemon.address(of: host)
    if words.isEmpty, json || method != nil { throw ValidationError("Expected a command with --json and --method.") }
  }

  func run() throws {
    let words: CallWords
    do throws(CallError) { words = try CallWords(self.words) } catch { throw refused(error) }
    let (client, token) = try self.daemon.client(of: host)
    defer { client.stop() }
    if words.isEmergencyStop, method == nil || method == .post {
      return try finish(CallRequest(emergencyStop: words), words, client, hasToken: token != nil)
    }
    let daemon = try description(client, hasToken: token != nil)
    if words.segments.isEmpty { return print(CallListing.text(daemon)) }
    let request: CallRequest
    do throws(CallError) {
      request = try CallRequest(words, method: method?.rawValue.uppercased(), of: daemon)
    } catch {
      throw refused(error)
    }
    try finish(request, words, client, hasToken: token != nil)
  }

  /// The time limit of a request, longer than any command takes to be acknowledged.
  private static let limit = Duration.seconds(20)

  /// The time for which a reset that is refused is asked for again, and the time between two questions. A stick that was held counts as held
  /// for a second and more.
  private static let (resetPatience, resetPeriod) = (Nanoseconds.seconds(5), Nanoseconds.milliseconds(500))

  private func ask(
    _ request: CallRequest, _ words: CallWords, _ client: ServiceClient
  ) throws -> Result<ServiceClient.Answer, ServiceClient.Failure> {
    let body = request.body.map { Array($0.compact.utf8) }
    func ask() -> Result<ServiceClient.Answer, ServiceClient.Failure> {
      client.ask(request.method, request.target, body: body, limit: Self.limit)
    }
    var result = ask()
    guard words.isReset, request.method == "POST" else { return result }
    let bell = try Doorbell()
    let end = MonotonicClock.now + Self.resetPatience
    while case .success(let answer) = result, answer.status == 409, MonotonicClock.now < end {
      // The bell is never rung; its timeout is the pause.
      bell.wait(limit: Self.resetPeriod)
      result = ask()
    }
    return result
  }

  private func finish(_ request: CallRequest, _ words: CallWords, _ client: ServiceClient, hasToken: Bool) throws {
    let answer =
      switch try ask(request, words, client) {
      case .success(let answer):
        CallAnswer(
          status: answer.status, body: answer.body, to: words.command, of: client.address, hasToken: hasToken,
          isCompact: json)
      case .failure(let failure):
        CallAnswer(failure, of: client.address, isCommand: request.method != "GET")
      }
    if let output = answer.output { print(output) }
    if let complaint = answer.complaint {
      complain(complaint)
      throw ExitCode.failure
    }
  }

  /// Returns the daemon's description of its API, which needs no token.
  private func description(_ client: ServiceClient, hasToken: Bool) throws -> CallDescription {
    switch client.ask("GET", "/api/openapi.json", limit: Self.limit) {
    case .success(let answer):
      if answer.status == 200, let daemon = CallDescription(answer.body) { return daemon }
      // A wrong token is refused at this request already.
      let refusal = CallAnswer(
        status: answer.status, body: answer.body, to: "openapi.json", of: client.address, hasToken: hasToken,
        isCompact: false)
      complain(refusal.complaint ?? "\(client.address) answers, but not as \(DaemonProgram.current.name) does")
    case .failure(let failure):
      if let complaint = CallAnswer(failure, of: client.address, isCommand: false).complaint { complain(complaint) }
    }
    throw ExitCode.failure
  }

  private func refused(_ error: CallError) -> ExitCode {
    complain("\(error)")
    return ExitCode(64)
  }
}
